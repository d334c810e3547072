package geo

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// One line may be as long as its file. It must not be held in memory whatever it takes; what is above it is kept.
func TestAPlaceOfEndlessCoordinatesEndsTheTable(t *testing.T) {
	t.Parallel()
	const place = "<Placemark><name>%s</name><LineString><coordinates>%s</coordinates></LineString></Placemark>"
	short := fmt.Sprintf(place, "short", "1,2 3,4")
	long := fmt.Sprintf(place, "long", strings.Repeat("1,2 3,4 ", maxRecordBytes/8+1024))
	text := "<kml><Document>" + short + short + long + short + "</Document></kml>"
	table := sourcetest.Read(t, kmlFile, sourcetest.Input("", []byte(text)))[0]
	if table.Rows != 2 || !table.Truncated || !strings.Contains(strings.Join(table.Why, " "), "too large") {
		t.Errorf("%d rows, truncated %v, %q", table.Rows, table.Truncated, table.Why)
	}
	many := "<kml><Document>" + strings.Repeat(short+strings.Repeat(" ", 64<<10), 2*maxRecordBytes>>16) + "</Document></kml>"
	table = sourcetest.Read(t, kmlFile, sourcetest.Input("", []byte(many)))[0]
	if table.Rows != 2*maxRecordBytes>>16 || table.Truncated {
		t.Errorf("%d rows, truncated %v", table.Rows, table.Truncated)
	}
}
