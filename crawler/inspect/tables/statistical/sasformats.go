package statistical

import "strings"

// sasKind is what a number of SAS stands for.
type sasKind byte

const (
	sasPlain sasKind = iota
	sasDate
	sasDateTime
	sasTime
)

// Names of SAS' formats of dates and times, without their numbers ("SAS Formats and Informats: Reference"). Those that
// show only a part of a date count as dates.
const (
	sasDates = " DATE DAY DDMMYY DDMMYYB DDMMYYC DDMMYYD DDMMYYN DDMMYYP DDMMYYS DOWNAME JULDAY JULIAN MMDDYY MMDDYYB MMDDYYC MMDDYYD " +
		"MMDDYYN MMDDYYP" +
		" MMDDYYS MMYY MMYYC MMYYD MMYYN MMYYP MMYYS MONNAME MONTH MONYY NENGO QTR QTRR WEEKDATE WEEKDATX WEEKDAY WEEKU WEEKV WEEKW " +
		"WORDDATE WORDDATX YEAR" +
		" YYMM YYMMC YYMMD YYMMN YYMMP YYMMS YYMMDD YYMMDDB YYMMDDC YYMMDDD YYMMDDN YYMMDDP YYMMDDS YYMON YYQ YYQC YYQD YYQN YYQP YYQS " +
		"YYQR YYQRC YYQRD" +
		" YYQRN YYQRP YYQRS YYWEEKU YYWEEKV YYWEEKW MINGUO E8601DA B8601DA IS8601DA NLDATE NLDATEL NLDATEM NLDATEMD NLDATES NLDATEW " +
		"EURDFDD EURDFDE EURDFDWN" +
		" EURDFMN EURDFMY EURDFWDX EURDFWKX "
	sasDateTimes = " DATETIME DATEAMPM DTDATE DTMONYY DTWKDATX DTYEAR DTYYQC E8601DN E8601DT E8601DX E8601DZ E8601LX B8601DN B8601DT " +
		"B8601DX B8601DZ B8601LX" +
		" IS8601DN IS8601DT IS8601DZ MDYAMPM NLDATM NLDATML NLDATMM NLDATMS NLDATMW EURDFDT "
	sasTimes = " TIME TIMEAMPM TOD HHMM HOUR MMSS E8601TM E8601TX E8601TZ E8601LZ B8601TM B8601TX B8601TZ B8601LZ IS8601TM IS8601TZ " +
		"NLTIME NLTIMAP "
)

// sasKindOf returns what the numbers of a format stand for.
func sasKindOf(format string) sasKind {
	name := " " + strings.TrimRight(strings.ToUpper(strings.TrimSpace(format)), "0123456789.") + " "
	switch {
	case name == "  ":
		return sasPlain
	case strings.Contains(sasDates, name):
		return sasDate
	case strings.Contains(sasDateTimes, name):
		return sasDateTime
	case strings.Contains(sasTimes, name):
		return sasTime
	}
	return sasPlain
}

// sasNumber formats a number by what it stands for. A time of day may also be that of a date.
func sasNumber(v float64, kind sasKind) string {
	switch kind {
	case sasDate:
		return shown(from1960.date(v), v)
	case sasDateTime:
		return shown(from1960.moment(v), v)
	case sasTime:
		return shown(clock(v), v)
	}
	return number(v, 64)
}
