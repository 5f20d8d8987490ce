// A loop runs one too far over an array in a struct: it reads the member behind it.
// expect: memory-fault
// finding A: out-of-bounds global records within-object
typedef struct {
    int values[4];
    int sum;
} record;

kernel void sums(global record *records, const int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k <= 4; k++)
        sum += records[i].values[k]; // <- A
    records[i].sum = sum;
}
