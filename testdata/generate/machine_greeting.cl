// A greeting `HI <digit><digit>` line by line: kinds of characters come from a helper, and the machine is five steps deep. No condition on
// `state` or `kind` is about an input itself.
enum { WANT_H, WANT_I, WANT_BLANK, WANT_TENS, WANT_ONES, DONE, LOST };

static int kind_of(uchar c) {
    switch (c) {
    case 'h':
    case 'H':
        return 1;
    case 'i':
    case 'I':
        return 2;
    case ' ':
        return 3;
    default:
        return c >= '0' && c <= '9' ? 4 : 0;
    }
}

kernel void machine_greeting(global const uchar *text, global int *greeted, int width) {
    size_t line = get_global_id(0);
    int state = WANT_H;
    for (int at = 0; at < width; at++) {
        int kind = kind_of(text[line * width + at]);
        if (state == WANT_H)
            state = kind == 1 ? WANT_I : LOST;
        else if (state == WANT_I)
            state = kind == 2 ? WANT_BLANK : LOST;
        else if (state == WANT_BLANK)
            state = kind == 3 ? WANT_TENS : LOST;
        else if (state == WANT_TENS)
            state = kind == 4 ? WANT_ONES : LOST;
        else if (state == WANT_ONES)
            state = kind == 4 ? DONE : LOST;
        else
            break;
    }
    if (state == DONE) // -> true covered
        greeted[line] = 1;
}
