// fault: output: the sum begins with what the record held.
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
    int sum = records[i].sum;
    for (int k = 0; k < 4; k++)
        sum += records[i].values[k];
    records[i].sum = sum;
}
