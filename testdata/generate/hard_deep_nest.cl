// Six loops in one another whose bounds are arguments and contents: a path has hundreds of thousands of steps, each of which depends on the
// input. The time that is given has to do.
kernel void hard_deep_nest(global const int *bounds, global int *data, int n, int key) {
    int i = get_global_id(0);
    int sum = 0;
    for (int a = 0; a < bounds[0]; a++)
        for (int b = 0; b < bounds[1] + a; b++)
            for (int c = b; c < n; c++)
                for (int d = 0; d < bounds[2]; d++)
                    for (int e = d; e < n; e++)
                        for (int f = 0; f < bounds[3]; f++) {
                            int at = (a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f) & 255;
                            if (data[at] == sum) // -> true covered/unknown, false covered/unknown
                                sum += key;
                            else if (data[at] > sum) // -> true covered/unknown, false covered/unknown
                                sum ^= data[at];
                            else
                                sum++;
                        }
    if (sum == 123456789) // -> true covered/unknown, false covered/unknown
        data[i] = sum;
    else
        data[i & 255] = sum + 1;
}
