package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// portal is one open-data portal with its datasets.
type portal struct {
	Host, Home, Kind, Source string
	Title, About             string
	Publisher, Mail          string
	German                   bool
	Licence, LicenceName     string
	Places                   []place
	Datasets                 []dataset
}

// place is a city with its districts.
type place struct {
	Name      string
	Lat, Lon  float64
	Districts []string
}

// dataset is a dataset of a portal.
type dataset struct {
	Name                  string
	Topic                 topic
	Place                 place
	Title, About          string
	Keywords              []string
	Issued, Modified      time.Time
	Frequency             string // as CKAN portals write it; "" where the portal does not say
	Licence, Publisher    string // "" where the portal does not say
	Files                 []file
	Contact, ContactMail  string
	TemporalFrom, Website string
}

// file is a distribution of a dataset.
type file struct {
	URL, Title, Format string // Format as in formats
	Label              string // what the portal says the format is
	Gone, Broken       int    // month in which it disappears; how it fails then, see the web
}

// portalsOf returns the portals with every nth of their datasets.
func portalsOf(nth int) []*portal {
	all := []*portal{
		{Host: "data.stadt-wien.example", Kind: "ckan", Title: "Offene Daten Wien", About: "Der Katalog offener Daten der Stadt.",
			Publisher: "Stadt Wien", Mail: "open@stadt-wien.example", German: true,
			Licence: "https://creativecommons.org/licenses/by/4.0/", LicenceName: "Creative Commons Namensnennung 4.0 International",
			Places: []place{
				{"Wien", 48.21, 16.37,
					strings.Fields(
						"Innere-Stadt Leopoldstadt Landstraße Wieden Margareten Mariahilf Neubau Josefstadt Alsergrund Favoriten " +
							"Simmering Meidling Hietzing Penzing Ottakring Döbling Floridsdorf Donaustadt Liesing")}}},
		{Host: "data.laender.example", Kind: "dcat", Title: "Datenportal der Länder", About: "Offene Daten der Landeshauptstädte.",
			Publisher: "Verbund der Landeshauptstädte", Mail: "daten@laender.example", German: true,
			Licence: "http://publications.europa.eu/resource/authority/licence/CC_BY_4_0", LicenceName: "CC BY 4.0",
			Places: []place{{"Graz", 47.07, 15.44, strings.Fields("Lend Gries Geidorf Jakomini Liebenau Andritz Eggenberg")},
				{"Linz", 48.31, 14.29, strings.Fields("Innenstadt Urfahr Ebelsberg Kleinmünchen Waldegg")},
				{"Salzburg", 47.80, 13.04, strings.Fields("Altstadt Nonntal Lehen Gnigl Maxglan Parsch")},
				{"Innsbruck", 47.27, 11.39, strings.Fields("Wilten Pradl Hötting Igls Amras")},
				{"Klagenfurt", 46.62, 14.31, strings.Fields("Annabichl Viktring Wölfnitz")},
				{"Bregenz", 47.50, 9.75, strings.Fields("Vorkloster Fluh Rieden")}}},
		{Host: "daten.nordstadt.example", Kind: "datajson", Title: "Transparenzportal Nordstadt", About: "Was die Verwaltung weiß.",
			Publisher: "Freie Stadt Nordstadt", Mail: "transparenz@nordstadt.example", German: true,
			Licence: "https://www.govdata.de/dl-de/by-2-0", LicenceName: "Datenlizenz Deutschland – Namensnennung 2.0",
			Places: []place{{"Nordstadt", 53.55, 9.99, strings.Fields("Altona Eimsbüttel Wandsbek Bergedorf Harburg Mitte")},
				{"Hafenburg", 53.87, 8.70, strings.Fields("Groden Döse Duhnen")},
				{"Seekirch", 54.32, 10.13, strings.Fields("Gaarden Wik Holtenau")}}},
		{Host: "opendata.alpenland.example", Kind: "ckan", Title: "Alpenland open data", About: "Open government data of the cantons.",
			Publisher: "Federal Office of Records", Mail: "opendata@alpenland.example",
			Licence: "https://creativecommons.org/publicdomain/zero/1.0/", LicenceName: "CC0 1.0",
			Places: []place{{"Zürich", 47.37, 8.54, strings.Fields("Altstetten Oerlikon Seefeld Wiedikon Enge")},
				{"Bern", 46.95, 7.45, strings.Fields("Länggasse Kirchenfeld Breitenrain Bümpliz")},
				{"Lausanne", 46.52, 6.63, strings.Fields("Ouchy Flon Sauvabelin")},
				{"Lugano", 46.00, 8.95, strings.Fields("Molino Castagnola Viganello")}}},
		{Host: "data.riverside.example", Kind: "dcat", Title: "Open Riverside", About: "Data of the city of Riverside.",
			Publisher: "City of Riverside", Mail: "data@riverside.example",
			Licence: "http://opendatacommons.org/licenses/odbl/1-0/", LicenceName: "Open Database Licence",
			Places: []place{{"Riverside", 51.48, -0.01, strings.Fields("Greenwich Deptford Woolwich Eltham Charlton")},
				{"Milltown", 53.48, -2.24, strings.Fields("Ancoats Hulme Ardwick")},
				{"Eastport", 52.63, 1.30, strings.Fields("Catton Lakenham")},
				{"Hillford", 51.46, -2.59, strings.Fields("Clifton Bedminster Redland")}}},
	}
	n := 0
	for _, p := range all {
		p.Home = "http://" + p.Host + "/"
		p.Source = p.Home
		switch p.Kind {
		case "dcat":
			p.Source += "catalog.ttl"
		case "datajson":
			p.Source += "data.json"
		}
		for _, where := range p.Places {
			for i, t := range topics() {
				if n++; n%max(nth, 1) == 0 {
					p.Datasets = append(p.Datasets, p.dataset(where, t, i))
				}
			}
		}
	}
	return all
}

// named leaves the portals the datasets whose names match.
func named(portals []*portal, names *regexp.Regexp) []*portal {
	for _, p := range portals {
		p.Datasets = slices.DeleteFunc(p.Datasets, func(d dataset) bool { return !names.MatchString(d.Name) })
	}
	return portals
}

func (p *portal) dataset(where place, t topic, i int) dataset {
	r := seedOf(p.Host, where.Name, t.Name)
	d := dataset{Name: t.Name + "-" + slug(where.Name), Topic: t, Place: where, Licence: p.Licence, Publisher: p.Publisher,
		Keywords: t.Keywords, Contact: "Redaktion " + p.Publisher, ContactMail: p.Mail}
	d.Title, d.About = fmt.Sprintf(t.German, where.Name), fmt.Sprintf(t.AboutDE, where.Name)
	if !p.German {
		d.Title, d.About, d.Keywords, d.Contact = fmt.Sprintf(t.English, where.Name), fmt.Sprintf(t.AboutEN, where.Name), t.Words,
			p.Publisher+" desk"
	}
	d.Issued = time.Date(2012+r.upTo(12), time.Month(1+r.upTo(12)), 1+r.upTo(28), 9, 0, 0, 0, time.UTC)
	d.Modified = time.Date(2026, time.Month(1+r.upTo(10)), 1+r.upTo(28), 6, 0, 0, 0, time.UTC)
	d.TemporalFrom = number(2008 + r.upTo(12))
	switch t.Every {
	case 1:
		d.Frequency = "MONTHLY"
	case 12:
		d.Frequency = "ANNUAL"
	case 3:
		d.Frequency = "QUARTERLY"
	}
	if r.upTo(9) == 0 { // as portals are: some say little
		d.Licence = ""
	}
	if r.upTo(11) == 0 {
		d.About = ""
	}
	if r.upTo(13) == 0 {
		d.Contact, d.ContactMail = "", ""
	}
	kinds := formatNames()
	first := []string{"csv", "csv", "csv", "xlsx", "json"}[r.upTo(5)]
	if t.Geo {
		first = []string{"csv", "geojson", "csv", "kml"}[r.upTo(4)]
	}
	chosen := []string{first, kinds[(i+r.upTo(len(kinds)))%len(kinds)], kinds[(i*7+3)%len(kinds)]}
	if r.upTo(3) == 0 {
		chosen = chosen[:2]
	}
	for k, kind := range chosen {
		if k > 0 && kind == first {
			continue
		}
		f := file{Format: kind, Label: strings.ToUpper(kind), Gone: -1, Title: d.Title + " (" + strings.ToUpper(kind) + ")"}
		f.URL = p.Home + "daten/" + slug(where.Name) + "/" + t.Name + extensionOf(kind)
		if k == 1 && r.upTo(3) == 0 {
			f.URL = p.Home + "download?dataset=" + d.Name + "&format=" + kind
		}
		if dead := r.upTo(16); dead < 3 && k > 0 || dead == 0 {
			f.Gone, f.Broken = 1+r.upTo(11), dead+1
		}
		if r.upTo(60) == 0 {
			f.Gone = 0 // was never there
		}
		d.Files = append(d.Files, f)
	}
	return d
}

func slug(s string) string {
	return strings.NewReplacer("ü", "ue", "ö", "oe", "ä", "ae", "ß", "ss", " ", "-").Replace(strings.ToLower(s))
}
