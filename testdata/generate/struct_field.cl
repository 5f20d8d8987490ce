// Fields of a structure by value, nested, with an array.
struct range { int from, to; };
struct config {
    char mode;
    struct range window;
    float weight[4];
    ulong stamp;
};
kernel void struct_field(struct config c, global int *out) {
    int i = get_global_id(0);
    int r = 0;
    if (c.mode == 'q') // -> true covered
        r = 1;
    if (c.window.to - c.window.from == 1000003) // -> true covered
        r |= 2;
    if (c.weight[2] == 0.375f && c.stamp == 5000000000ul) // -> true covered
        r |= 4;
    out[i] = r;
}
