package joining

// What joining_test calls of the steps of Join.
var (
	NextMarks = (*Queue).nextMarks
	JoinApart = (*Queue).joinApart
	JoinAlone = (*Queue).joinAlone
)

// SetPerTxn sets the maximum number of versions of a transaction.
func SetPerTxn(q *Queue, n int) { q.perTxn = n }

// Fits returns about how many versions the next transaction may hold.
func Fits(q *Queue) int { return q.fits }
