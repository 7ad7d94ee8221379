# SPDX-License-Identifier: GPL-2.0-or-later
# Definitions of numbers out of Documentation/counters.rst, as C: awk -f definitions.awk counters.rst
#
# Taken are the simple tables whose first column is headed "name" or "kind": name and perhaps another name in brackets,
# unit, and what it is. In a table of kinds of histograms the second column says what is counted.

function cell(line, i) {
	text = substr(line, from[i], i < columns ? from[i + 1] - from[i] : 1000)
	gsub(/``/, "", text)
	gsub(/^ +| +$/, "", text)
	return text
}
function join(a, b) { return a == "" ? b : b == "" ? a : a " " b }
function quoted(text) {
	gsub(/[\\"]/, "\\\\&", text)
	return "\"" text "\""
}
function flush_row(	alias) {
	if (row[1] == "")
		return
	if (match(row[1], / \(.*\)$/)) {
		alias = substr(row[1], RSTART + 2, RLENGTH - 3)
		row[1] = substr(row[1], 1, RSTART - 1)
	}
	sub(/^reqs\.$/, "requests", row[2])
	sub(/^reqs\.$/, "requests", row[3])
	if (kinds)
		printf "\t{ %s, %s, %s, %s },\n", quoted(row[1]), quoted(alias), quoted(row[3]),
			quoted("histogram of " row[2] "; bins: " row[4])
	else
		printf "\t{ %s, %s, %s, %s },\n", quoted(row[1]), quoted(alias), quoted(row[2]), quoted(join(lead, row[3]))
	found++
	split("", row)
}
BEGIN {
	print "/* Made of Documentation/counters.rst by definitions.awk. */"
	print "#include \"report/definitions.h\""
	print "const struct definition definitions[] = {"
}
/^=+( +=+)+ *$/ {
	if (state == 0) { # top line: where the columns begin
		state = 1
		columns = 0
		for (i = 1; i <= length($0); i++)
			if (substr($0, i, 1) == "=" && (i == 1 || substr($0, i - 1, 1) == " "))
				from[++columns] = i
	} else if (state == 1) {
		state = 2
	} else {
		if (state == 3)
			flush_row()
		state = 0
	}
	if (state == 2 && wanted)
		state = 3
	border = NR
	next
}
NF == 0 && border == NR - 1 { # a second border may be the last one: a table without a header
	state = wanted = 0
}
state == 1 {
	kinds = cell($0, 1) == "kind"
	wanted = (cell($0, 1) == "name" && columns == 3) || (kinds && columns == 4)
	lead = cell($0, 3) == "incremented when" ? "incremented when" : ""
	next
}
state == 3 && NF {
	if (cell($0, 1) != "")
		flush_row()
	for (i = 1; i <= columns; i++)
		row[i] = join(row[i], cell($0, i))
}
END {
	print "};"
	printf "const size_t nr_definitions = %d;\n", found
	if (!found)
		exit 1
}
