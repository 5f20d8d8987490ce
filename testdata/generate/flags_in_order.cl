// Four messages have to arrive in order, with others between them if need be; one of them takes back what came before. What has arrived is
// kept in flags, so no condition on them is about an input.
kernel void flags_in_order(global const short *messages, global int *opened, int count) {
    size_t door = get_global_id(0);
    bool knocked = false, named = false, paid = false;
    int opens = 0;
    for (int m = 0; m < count; m++) {
        short message = messages[door * count + m];
        if (message == 301)
            knocked = true;
        if (message == -77 && knocked)
            named = true;
        if (message == 4096 && named)
            paid = true;
        if (message == 12) {
            knocked = false;
            if (paid)
                opens++;
        }
    }
    if (opens > 1) // -> true covered
        opened[door] = opens;
}
