package document

import (
	"context"
	"strings"

	"odarchive/crawler/inspect/tables/arrays"
	"odarchive/crawler/inspect/tables/source"
)

// array reads the attributes, dimensions and variables of NetCDF and HDF5. The names of attributes are those of the CF
// conventions and of the Attribute Convention for Data Discovery.
func array(ctx context.Context, in source.Input, d *Document) error {
	f, err := arrays.Open(ctx, in)
	if f == nil {
		return err
	}
	for _, a := range f.Attributes {
		switch strings.ToLower(a.Name) {
		case "title":
			d.Title = firstOf(d.Title, a.Value)
		case "summary", "description":
			d.Description = firstOf(d.Description, a.Value)
		case "creator_name", "institution":
			d.Creator = firstOf(d.Creator, a.Value)
		case "date_created", "creation_date":
			d.Created = firstOf(d.Created, a.Value)
		case "date_modified":
			d.Modified = firstOf(d.Modified, a.Value)
		case "conventions":
			if d.Standard = a.Value; strings.HasPrefix(a.Value, "CF-") {
				d.Conforms = "https://cfconventions.org/"
			}
		}
		if strings.TrimSpace(a.Name) != "" {
			d.Attributes = append(d.Attributes, Attribute(a))
		}
	}
	for _, x := range f.Dims {
		d.Dimensions = append(d.Dimensions, Dimension(x))
	}
	for _, v := range f.Vars {
		title := ""
		for _, name := range []string{"long_name", "standard_name"} {
			title = firstOf(title, v.Attr(name))
		}
		d.Variables = append(d.Variables, Variable{Name: v.Name, Title: title, Unit: v.Attr("units"), Datatype: v.Type, Dimensions: v.Dims})
	}
	return err
}
