// What is written beside each place belongs to another one: that places differ does not help.
// expect: racy
kernel void mark(int count, global int *marks, global const int *place) {
    for (int i = get_global_id(0); i < count; i += get_global_size(0)) {
        const int at = place[i];
        marks[at] += 1;
        marks[at + 1] += 2;
    }
}
