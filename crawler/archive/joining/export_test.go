package joining

// What joining_test calls of the steps of Join.
var (
	NextMarks = (*Queue).nextMarks
	JoinApart = (*Queue).joinApart
	JoinAlone = (*Queue).joinAlone
)
