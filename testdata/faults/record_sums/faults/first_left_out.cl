// fault: output: the first value is left out.
//
// Sums the four values of each record into its sum.
typedef struct {
    int values[4];
    int sum;
} record;

kernel void sums(global record *records, const int n) {
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    int sum = 0;
    for (int k = 1; k < 4; k++)
        sum += records[i].values[k];
    records[i].sum = sum;
}
