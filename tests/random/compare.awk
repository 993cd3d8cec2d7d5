# compare.awk CHANGED PLAIN RANDOM: names of functions whose level has changed, and the paths with their calls ("a/b 3")
# of two recordings of a program, the second with changing levels. Without the changed functions, the paths of all others
# have the same calls in both. A path of the second recording is one of the first, some changed functions left out.
FILENAME == ARGV[1] { changed[$0] = 1; next }
{
    calls = $NF
    path = substr($0, 1, length($0) - length(calls) - 1)
    count = split(path, cell, "/")
    leaf = cell[count]
    rest = ""
    for (i = 1; i <= count; i++)
        if (!(cell[i] in changed))
            rest = rest "/" cell[i]
}
!(leaf in changed) { sum[rest] += FILENAME == ARGV[2] ? calls : -calls }
FILENAME == ARGV[2] { paths[leaf, ++number[leaf]] = path; next }
!is_known() { print "no such path: " path; wrong = 1 }
END {
    for (rest in sum)
        if (sum[rest]) {
            print rest ": " (sum[rest] > 0 ? sum[rest] " calls too few" : -sum[rest] " calls too many")
            wrong = 1
        }
    exit wrong
}
function is_known(    i, j, k, whole, length_of_whole) {
    for (i = 1; i <= number[leaf]; i++) {
        length_of_whole = split(paths[leaf, i], whole, "/")
        k = 1
        for (j = 1; j <= length_of_whole && k <= count; j++)
            if (whole[j] == cell[k])
                k++
            else if (!(whole[j] in changed))
                break
        if (k > count)
            return 1
    }
    return 0
}
