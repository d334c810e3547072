package main

// topic is what a dataset is about. Titles and descriptions have one %s, the place.
type topic struct {
	Name, Theme     string // file name; code of the EU's data themes
	German, English string
	AboutDE         string
	AboutEN         string
	Keywords        []string // German; every portal in another language has English
	Words           []string
	Columns         []column
	Geo             bool // rows have coordinates
	Every           int  // months between changes, 0 for never
}

type column struct {
	Name string
	Kind string // "place", "name", "year", "date", "int", "float", "code", "bool", "text"
	Max  int
}

func cols(kind ...string) (out []column) {
	for i := 0; i+1 < len(kind); i += 2 {
		c := column{Name: kind[i], Kind: kind[i+1]}
		switch c.Kind {
		case "int":
			c.Max = 9000
		case "float":
			c.Max = 400
		}
		out = append(out, c)
	}
	return out
}

// topics are of the kinds that cities publish.
func topics() []topic {
	return []topic{
		{"population", "SOCI", "Bevölkerung nach Bezirken in %s", "Population of %s by district",
			"Einwohnerzahlen der Bezirke von %s nach Geschlecht und Alter, jeweils zum 1. Jänner.",
			"Residents of each district of %s by sex and age group, on the first of January.",
			[]string{"Bevölkerung", "Bezirke", "Demografie", "Einwohner"}, []string{"population", "districts", "demography"},
			cols("BEZIRK", "place", "JAHR", "year", "MAENNLICH", "int", "WEIBLICH", "int", "GESAMT", "int"), false, 1},
		{"trees", "ENVI", "Baumkataster %s", "Street trees of %s", "Standorte, Arten und Pflanzjahre der öffentlichen Bäume in %s.",
			"Places, species and years of planting of the public trees of %s.",
			[]string{"Bäume", "Umwelt", "Stadtgrün"}, []string{"trees", "environment", "parks"},
			cols("BAUM_ID", "code", "ART", "name", "BEZIRK", "place", "PFLANZJAHR", "year", "STAMMUMFANG_CM", "int", "HOEHE_M", "float"),
			true, 2},
		{"air-quality", "ENVI", "Luftgüte in %s, Stundenmittel", "Air quality in %s, hourly means",
			"Gemessene Werte von NO2, PM10, PM2.5 und Ozon an den Messstellen in %s.",
			"NO2, PM10, PM2.5 and ozone as measured at the stations of %s.",
			[]string{"Luft", "Umwelt", "Messwerte", "Feinstaub"}, []string{"air quality", "environment", "measurements", "particulates"},
			cols("STATION", "place", "ZEIT", "date", "NO2", "float", "PM10", "float", "PM25", "float", "O3", "float"), false, 1},
		{"fountains", "HEAL", "Trinkbrunnen in %s", "Drinking fountains in %s",
			"Trinkbrunnen im öffentlichen Raum von %s mit ihrem Typ und der Zeit ihres Betriebs.",
			"Public drinking fountains of %s, their type, and the months in which they run.",
			[]string{"Trinkwasser", "Brunnen", "Gesundheit"}, []string{"drinking water", "fountains", "health"},
			cols("NR", "code", "NAME", "name", "BEZIRK", "place", "TYP", "text", "IN_BETRIEB", "bool"), true, 0},
		{"stops", "TRAN", "Haltestellen der Verkehrsbetriebe %s", "Public transport stops of %s",
			"Alle Haltestellen von Bus, Straßenbahn und U-Bahn in %s mit Koordinaten.",
			"All stops of buses, trams and the underground of %s with their coordinates.",
			[]string{"Haltestellen", "Öffentlicher Verkehr", "Mobilität"}, []string{"stops", "public transport", "mobility"},
			cols("STOP_ID", "code", "STOP_NAME", "name", "ZONE", "int", "BARRIEREFREI", "bool"), true, 3},
		{"bicycle-counts", "TRAN", "Radverkehrszählungen %s", "Bicycle counts in %s", "Radfahrende je Tag an den Dauerzählstellen in %s.",
			"Cyclists a day at the permanent counting points of %s.",
			[]string{"Radverkehr", "Zählstellen", "Mobilität"}, []string{"bicycles", "traffic counts", "mobility"},
			cols("ZAEHLSTELLE", "place", "DATUM", "date", "RADFAHRENDE", "int"), false, 1},
		{"budget", "GOVE", "Rechnungsabschluss %s", "Accounts of %s", "Einnahmen und Ausgaben der Stadt %s nach Ansatz und Post.",
			"Income and expenditure of the city of %s by budget line.",
			[]string{"Finanzen", "Budget", "Haushalt"}, []string{"finance", "budget", "spending"},
			cols("ANSATZ", "code", "BEZEICHNUNG", "name", "JAHR", "year", "EINNAHMEN", "int", "AUSGABEN", "int"), false, 6},
		{"elections", "GOVE", "Gemeinderatswahl %s: Ergebnisse nach Sprengeln", "Municipal election in %s: results by ward",
			"Stimmen je Partei in den Sprengeln von %s.", "Votes for each party in the wards of %s.",
			[]string{"Wahlen", "Gemeinderat", "Politik"}, []string{"elections", "council", "politics"},
			cols("SPRENGEL", "code", "BEZIRK", "place", "WAHLBERECHTIGTE", "int", "ABGEGEBEN", "int", "PARTEI_A", "int", "PARTEI_B", "int",
				"PARTEI_C", "int"), false, 0},
		{"kindergartens", "EDUC", "Kindergärten in %s", "Nursery schools in %s",
			"Städtische und private Kindergärten in %s mit der Zahl ihrer Plätze.",
			"Public and private nursery schools of %s and how many children they take.",
			[]string{"Kindergarten", "Bildung", "Kinderbetreuung"}, []string{"nursery schools", "education", "children"},
			cols("NAME", "name", "BEZIRK", "place", "PLAETZE", "int", "STAEDTISCH", "bool"), true, 4},
		{"hospitals", "HEAL", "Spitäler in %s", "Hospitals of %s", "Krankenanstalten in %s mit Betten und Abteilungen.",
			"Hospitals of %s with their beds and departments.",
			[]string{"Spital", "Gesundheit", "Betten"}, []string{"hospitals", "health", "beds"},
			cols("NAME", "name", "BEZIRK", "place", "BETTEN", "int", "ABTEILUNGEN", "int"), true, 6},
		{"weather", "ENVI", "Wetterstation %s: Tageswerte", "Weather station of %s: daily values",
			"Temperatur, Niederschlag und Sonnenstunden in %s.", "Temperature, precipitation and hours of sunshine in %s.",
			[]string{"Wetter", "Klima", "Temperatur"}, []string{"weather", "climate", "temperature"},
			cols("DATUM", "date", "T_MIN", "float", "T_MAX", "float", "NIEDERSCHLAG_MM", "float", "SONNE_H", "float"), false, 1},
		{"energy", "ENER", "Stromverbrauch der Gebäude der Stadt %s", "Electricity used by the buildings of %s",
			"Monatlicher Verbrauch von Schulen, Ämtern und Bädern in %s in Kilowattstunden.",
			"Monthly consumption of schools, offices and pools of %s in kilowatt-hours.",
			[]string{"Energie", "Strom", "Gebäude"}, []string{"energy", "electricity", "buildings"},
			cols("GEBAEUDE", "name", "MONAT", "date", "KWH", "int"), false, 1},
		{"waste", "ENVI", "Abfallmengen %s", "Waste collected in %s",
			"Gesammelte Mengen von Restmüll, Papier, Glas und Bioabfall in %s in Tonnen.",
			"Tonnes of residual waste, paper, glass and compost collected in %s.",
			[]string{"Abfall", "Recycling", "Umwelt"}, []string{"waste", "recycling", "environment"},
			cols("JAHR", "year", "BEZIRK", "place", "RESTMUELL_T", "float", "PAPIER_T", "float", "GLAS_T", "float"), false, 3},
		{"tourism", "ECON", "Nächtigungen in %s nach Herkunft", "Nights spent by visitors of %s",
			"Ankünfte und Nächtigungen in %s nach Herkunftsland und Monat.", "Arrivals and nights in %s by country of origin and month.",
			[]string{"Tourismus", "Nächtigungen", "Wirtschaft"}, []string{"tourism", "nights", "economy"},
			cols("MONAT", "date", "LAND", "text", "ANKUENFTE", "int", "NAECHTIGUNGEN", "int"), false, 1},
		{"dogs", "SOCI", "Hunde pro Bezirk in %s", "Dogs by district in %s", "Angemeldete Hunde je Rasse und Bezirk in %s.",
			"Registered dogs of %s by breed and district.",
			[]string{"Hunde", "Haustiere", "Bezirke"}, []string{"dogs", "pets", "districts"},
			cols("RASSE", "name", "BEZIRK", "place", "ANZAHL", "int"), false, 2},
		{"baby-names", "SOCI", "Vornamen der Neugeborenen in %s", "First names of newborns in %s",
			"Wie Kinder in %s genannt wurden, nach Jahr und Geschlecht.", "What children were called in %s, by year and sex.",
			[]string{"Vornamen", "Geburten", "Bevölkerung"}, []string{"first names", "births", "population"},
			cols("VORNAME", "name", "GESCHLECHT", "text", "JAHR", "year", "ANZAHL", "int"), false, 12},
		{"water-levels", "ENVI", "Wasserstände bei %s", "Water levels near %s", "Pegel der Flüsse bei %s in Zentimetern über Null.",
			"River gauges near %s in centimetres above zero.",
			[]string{"Wasser", "Pegel", "Hydrologie"}, []string{"water", "gauges", "hydrology"},
			cols("PEGEL", "place", "ZEIT", "date", "STAND_CM", "int", "DURCHFLUSS_M3S", "float"), false, 1},
		{"permits", "REGI", "Baubewilligungen in %s", "Building permits in %s", "Bewilligte Wohnungen und Gebäude in %s nach Bezirk.",
			"Dwellings and buildings that were permitted in %s, by district.",
			[]string{"Bauen", "Wohnen", "Bewilligung"}, []string{"building", "housing", "permits"},
			cols("AKTENZAHL", "code", "BEZIRK", "place", "DATUM", "date", "WOHNUNGEN", "int", "FLAECHE_M2", "float"), false, 1},
		{"accidents", "TRAN", "Verkehrsunfälle in %s", "Road accidents in %s",
			"Unfälle mit Personenschaden in %s mit Ort, Zeit und Beteiligten.",
			"Accidents with injured people in %s: where, when, and who was involved.",
			[]string{"Unfälle", "Verkehr", "Sicherheit"}, []string{"accidents", "traffic", "safety"},
			cols("UNFALL_ID", "code", "ZEIT", "date", "BEZIRK", "place", "VERLETZTE", "int", "RAD_BETEILIGT", "bool"), true, 1},
		{"libraries", "EDUC", "Büchereien in %s: Bestand und Entlehnungen", "Libraries of %s: stock and loans",
			"Zweigstellen der Büchereien von %s mit Öffnungszeiten, Bestand und Entlehnungen.",
			"Branches of the libraries of %s with opening hours, stock and loans.",
			[]string{"Bücherei", "Kultur", "Bildung"}, []string{"libraries", "culture", "education"},
			cols("ZWEIGSTELLE", "name", "BEZIRK", "place", "BESTAND", "int", "ENTLEHNUNGEN", "int", "OFFEN", "text"), true, 3},
		{"parking", "TRAN", "Parkgaragen in %s: freie Plätze", "Car parks of %s: free places",
			"Freie Plätze der öffentlichen Garagen in %s.", "Free places in the public car parks of %s.",
			[]string{"Parken", "Garagen", "Verkehr"}, []string{"parking", "car parks", "traffic"},
			cols("GARAGE", "name", "ZEIT", "date", "PLAETZE", "int", "FREI", "int"), true, 1},
		{"rents", "ECON", "Mieten in %s", "Rents in %s", "Mittlere Nettomieten je Quadratmeter in %s nach Bezirk und Baujahr.",
			"Mean rents per square metre in %s by district and age of the building.",
			[]string{"Mieten", "Wohnen", "Preise"}, []string{"rents", "housing", "prices"},
			cols("BEZIRK", "place", "JAHR", "year", "BAUJAHR", "text", "EUR_M2", "float"), false, 6},
		{"schools", "EDUC", "Schulen und Schülerzahlen in %s", "Schools and pupils in %s",
			"Schulen in %s nach Art mit Klassen und Kindern.", "Schools of %s by type, with classes and pupils.",
			[]string{"Schulen", "Bildung", "Kinder"}, []string{"schools", "education", "pupils"},
			cols("SCHULE", "name", "ART", "text", "BEZIRK", "place", "KLASSEN", "int", "KINDER", "int"), true, 12},
		{"unemployment", "ECON", "Arbeitslose in %s", "Unemployment in %s", "Vorgemerkte Arbeitslose in %s nach Monat, Alter und Bezirk.",
			"Registered unemployed people of %s by month, age and district.",
			[]string{"Arbeitsmarkt", "Arbeitslosigkeit", "Wirtschaft"}, []string{"labour market", "unemployment", "economy"},
			cols("MONAT", "date", "BEZIRK", "place", "ALTER", "text", "PERSONEN", "int"), false, 1},
	}
}

// breeds of what can be counted; names of things and people.
func names() []string {
	return []string{"Ahorn", "Linde", "Rosskastanie", "Platane", "Robinie", "Am Hof", "Brunngasse", "Schulweg", "Rathausplatz", "Lindenhof",
		"Emma", "Paul", "Maria", "Jakob", "Anna", "Felix", "Dackel", "Labrador", "Pudel", "Beagle", "Zentralklinik", "Altes Rathaus",
		"Hallenbad Süd", "Volksschule Nord", "Garage Mitte", "Donaukanal", "Burgring", "Neue Mitte", "Seestern", "Bahnhof West"}
}

func words() []string {
	return []string{"vor 1919", "1919–1944", "1945–1980", "ab 1981", "Österreich", "Deutschland", "Italien", "Niederlande", "Mo–Fr 10–18",
		"w", "m", "15–24", "25–49", "50+", "Auslaufbrunnen", "Hydrant", "Gymnasium", "Mittelschule"}
}
