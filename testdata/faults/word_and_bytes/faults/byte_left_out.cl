// fault: output: the fifth work-item writes nothing.
//
// The first work-item of a group writes a word, those from the fifth on write a byte each. Groups have a multiple of
// four work-items.
kernel void mixed(global uchar *out) {
    uint l = (uint)get_local_id(0);
    global uchar *mine = out + get_group_id(0) * get_local_size(0);
    if (l == 0)
        ((global uint *)mine)[0] = 0x01020304u;
    else if (l > 4)
        mine[l] = (uchar)l;
}
