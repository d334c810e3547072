package harvest

import (
	"net/url"
	"path"
	"strings"
)

// extensions lists the extensions of files that hold data or documents, each between spaces.
const extensions = " csv tsv tab txt json jsonl ndjson geojson topojson xml rdf ttl nt nq trig jsonld owl n3 zip gz tgz bz2 xz 7z rar " +
	"tar zst " +
	"xls xlsx xlsm xlsb ods odt odp doc docx ppt pptx pdf rtf kml kmz shp dbf gpkg gml gpx tif tiff jp2 nc nc4 hdf hdf5 h5 grib grb fits " +
	"mat npy npz " +
	"parquet feather arrow avro orc sqlite sqlite3 db mdb accdb sav por dta sas7bdat rds rdata rda r py ipynb las laz ply obj stl wav " +
	"flac mp3 ogg mp4 " +
	"mkv avi mov png jpg jpeg gif svg bmp webp epub ps tex md bib ris yaml yml toml ini sql px sdmx arff fasta fastq fa fq vcf bam bed " +
	"gff mzml cif pdb " +
	"mol sdf dcm nii edf log dat asc bin warc wacz iso jar war whl exe msi dmg deb rpm html htm "

// IsFile reports whether an address looks like that of a file, not of a page about one.
func IsFile(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	p := strings.ToLower(u.Path)
	if ext := strings.TrimPrefix(path.Ext(p), "."); ext != "" && ext != "html" && ext != "htm" &&
		strings.Contains(extensions, " "+ext+" ") && !strings.Contains(ext, " ") {
		return len(strings.Trim(p, "/")) > len(ext)+1
	}
	for _, sign := range []string{"/bitstream/", "/bitstreams/", "/download", "/retrieve/", "/files/", "/file/", "/datastream/",
		"viewcontent.cgi", "/datafile/", "/export/"} {
		if strings.Contains(p, sign) {
			return true
		}
	}
	q := strings.ToLower(u.RawQuery)
	return strings.Contains(q, "download=") || strings.Contains(q, "filename=") || strings.Contains(q, "format=")
}
