kernel void count_all(global const int *data, global int *total, int n)
{
    int i = get_global_id(0);

    if (i < n)
        atomic_add(total, data[i]);
}
