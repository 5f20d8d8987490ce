// A scanner of comments: four states, and the text has to lead through them.
kernel void machine_tokens(global const char *text, global int *out, int length) {
    int state = 0, comments = 0;
    for (int k = 0; k < length; k++) {
        char c = text[k];
        switch (state) { // -> case 3 covered, default infeasible
        case 0:
            if (c == '/') // -> true covered
                state = 1;
            break;
        case 1:
            state = c == '*' ? 2 : 0;
            break;
        case 2:
            if (c == '*') // -> true covered
                state = 3;
            break;
        case 3:
            if (c == '/') { // -> true covered, false covered
                state = 0;
                comments++;
            } else {
                state = 2;
            }
            break;
        }
    }
    out[get_global_id(0)] = comments;
}
