package harvest

import (
	"strings"
	"sync"
	"time"
	"unicode"

	"odarchive/triplestore/xsdval"
)

const (
	day   = 24 * time.Hour
	month = 365 * day / 12
	year  = 365 * day
)

// frequencyPeriod is PeriodOf.
func frequencyPeriod(declared string) time.Duration {
	s := strings.TrimSpace(declared)
	if p, ok := repeating(s); ok {
		return p
	}
	if cut := strings.LastIndexAny(s, "/#:"); cut >= 0 && strings.Contains(s[:cut+1], ":") {
		s = s[cut+1:] // the local name of an IRI of the EU, Dublin Core, INSPIRE or CLD
	}
	return frequencies()[frequencyWord(s)]
}

// frequencyWord removes case, spaces and marks from a word: "Twice a year" and "twice_a_year" are the same.
func frequencyWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// repeating parses ISO 8601 intervals as data.json uses them: "R/P1Y", "R/PT1S", also "P1M" and "R/P0.5M".
func repeating(s string) (time.Duration, bool) {
	s = strings.ToUpper(s)
	if cut := strings.LastIndexByte(s, '/'); cut >= 0 && strings.HasPrefix(s, "R") {
		s = s[cut+1:]
	}
	if !strings.HasPrefix(s, "P") || len(s) < 3 || len(s) > 40 {
		return 0, false
	}
	if p, ok := fraction(s); ok {
		return p, true
	}
	if strings.HasSuffix(s, "W") { // XSD has no weeks
		n, ok := digits(s[1 : len(s)-1])
		return time.Duration(n) * 7 * day, ok
	}
	v, ok := xsdval.Parse(s, xsdval.Duration.IRI())
	if !ok {
		return 0, false
	}
	from := xsdval.NewDateTime(0, 0)
	end, ok := xsdval.Add(from, v)
	p := time.Duration(end.UnixMilli()) * time.Millisecond
	return max(p, 0), ok && end.UnixMilli() < int64(200*year/time.Millisecond)
}

// fraction parses "P0.5M" and "P0.33W", which data.json prescribes and XSD does not allow.
func fraction(s string) (time.Duration, bool) {
	whole, part, ok := strings.Cut(s[1:len(s)-1], ".")
	unit, known := map[byte]time.Duration{'Y': year, 'M': month, 'W': 7 * day, 'D': day}[s[len(s)-1]]
	n, valid := digits(whole)
	if !ok || !known || !valid || part == "" || len(part) > 6 {
		return 0, false
	}
	p, scale := float64(n), 0.1
	for _, c := range part {
		if c < '0' || c > '9' {
			return 0, false
		}
		p += float64(c-'0') * scale
		scale /= 10
	}
	return time.Duration(p * float64(unit)), true
}

func digits(s string) (int, bool) {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 1000 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, s != ""
}

// frequencies maps words to periods: the EU's authority table of frequencies, the Dublin Core collection frequencies,
// the maintenance codes of ISO 19115, and words in the languages of the larger portals.
var frequencies = sync.OnceValue(func() map[string]time.Duration {
	all := map[string]time.Duration{}
	for period, words := range map[time.Duration]string{
		time.Minute: "UPDATE_CONT cont continuous continuously continual real-time realtime live 1MIN permanent kontinuierlich " +
			"laufend continu continuo continua temps-réel tempsréel tiemporeal echtzeit fortlöpande løpende kontinuerlig continue " +
			"voortdurend",
		5 * time.Minute:  "5MIN 5minutes",
		10 * time.Minute: "10MIN 10minutes",
		15 * time.Minute: "15MIN 15minutes quarterhourly viertelstündlich",
		30 * time.Minute: "30MIN 30minutes halbstündlich",
		time.Hour:        "HOURLY hour stündlich stuendlich horaire toutesleshéures cadahora horaria orario timme timevis uurlijks",
		2 * time.Hour:    "BIHOURLY",
		3 * time.Hour:    "TRIHOURLY",
		6 * time.Hour:    "4timesaday sixhourly",
		8 * time.Hour:    "CONT_3 thricedaily threetimesaday DAILY_3",
		12 * time.Hour:   "DAILY_2 twicedaily twiceaday semidaily 12HRS zweimaltäglich",
		day: "DAILY day everyday eachday weekdays täglich taeglich quotidien quotidienne quotidiennement journalier diario diaria " +
			"diariamente giornaliero giornaliera quotidiano dagelijks daglig dagligen dagligt codziennie denně denne päivittäin diária " +
			"everyworkday werktäglich arbeitstäglich businessdaily onceaday",
		2 * day:        "everytwodays everysecondday 2DAYS",
		56 * time.Hour: "WEEKLY_3 threetimesaweek thriceweekly",
		84 * time.Hour: "WEEKLY_2 semiweekly twiceweekly twiceaweek zweimalwöchentlich bihebdomadaire",
		5 * day:        "WEEKLY_5 5DAYS",
		7 * day: "WEEKLY week eachweek everyweek onceaweek wöchentlich woechentlich hebdomadaire semanal semanalmente settimanale " +
			"wekelijks veckovis ukentlig ugentligt tygodniowo týdně viikoittain",
		14 * day: "BIWEEKLY fortnightly everytwoweeks 14tägig vierzehntägig zweiwöchentlich zweiwoechentlich quinzomadaire " +
			"bimensuel bimensuelle quincenal quindicinale quinzenal tweewekelijks 2WEEKS",
		month / 2: "MONTHLY_2 semimonthly twicemonthly twiceamonth halbmonatlich",
		month / 3: "MONTHLY_3 threetimesamonth thricemonthly",
		month: "MONTHLY month eachmonth everymonth onceamonth monatlich mensuel mensuelle mensual mensualmente mensile mensal " +
			"maandelijks månadsvis månedlig månedligt miesięcznie měsíčně kuukausittain",
		2 * month: "BIMONTHLY everytwomonths zweimonatlich bimestriel bimestrielle bimestral bimestrale tweemaandelijks",
		3 * month: "QUARTERLY quarter everythreemonths vierteljährlich vierteljaehrlich quartalsweise trimestriel trimestrielle " +
			"trimestral trimestrale kwartaal driemaandelijks kvartalsvis kvartalsvist kwartalnie čtvrtletně neljännesvuosittain",
		4 * month: "ANNUAL_3 threetimesayear thriceyearly thriceayear QUADRIMESTRALE cuatrimestral quadrimestral quadrimestriel " +
			"dreimaljährlich everyfourmonths",
		6 * month: "ANNUAL_2 semiannual semiannually biannual biannually twiceayear twiceyearly halfyearly sixmonthly " +
			"everysixmonths halbjährlich halbjaehrlich semestriel semestrielle semestral semestrale halfjaarlijks halvårlig halvårligt " +
			"halvårsvis półrocznie pololetně",
		year: "ANNUAL annually yearly year onceayear eachyear everyyear 1year jährlich jaehrlich annuel annuelle annuellement " +
			"anual anualmente annuale jaarlijks årlig årligt årligen årsvis rocznie ročně vuosittain",
		2 * year:  "BIENNIAL biennially everytwoyears zweijährlich zweijaehrlich bisannuel bisannuelle bienal biennale tweejaarlijks",
		3 * year:  "TRIENNIAL triennially everythreeyears dreijährlich triennal trienal triennale",
		4 * year:  "QUADRENNIAL everyfouryears vierjährlich quadriennal",
		5 * year:  "QUINQUENNIAL everyfiveyears fünfjährlich quinquennal quinquenal",
		10 * year: "DECENNIAL everytenyears zehnjährlich décennal decennale",
	} {
		for word := range strings.FieldsSeq(words) {
			all[frequencyWord(word)] = period
		}
	}
	return all
})
