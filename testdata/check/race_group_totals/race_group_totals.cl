// Each group's leader adds to one total without an atomic.
// expect: racy
// finding A: data-race inter-group global total
kernel void add_up(global const int *in, global int *total) {
    if (get_local_id(0) == 0)
        total[0] += in[get_group_id(0)]; // <- A
}
