// A decoder that accepts a frame only by its 32-bit magic number and version.
kernel void eq32_frame(global const uint *frames, global uchar *accepted, uint magic, int count) {
    int i = get_global_id(0);
    if (i >= count)
        return;
    uint status = 0;
    if (magic == 0x4b41u * 65536u + 0x5359u) // -> true covered
        status = 1;
    if (frames[i] == 0x8badf00du) // -> true covered, false covered
        status |= 2;
    accepted[i] = (uchar)status;
}
