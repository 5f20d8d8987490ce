// Digits with alternating weights, a multiple of eleven, and none of them out of range.
kernel void checksum_digits(global const uchar *codes, global int *valid) {
    int i = get_global_id(0);
    int sum = 0, good = 1;
    for (int k = 0; k < 10; k++) {
        int digit = codes[i * 10 + k] - '0';
        if (digit < 0 || digit > 9)
            good = 0;
        sum += digit * (10 - k);
    }
    if (good) { // -> true covered
        if (sum % 11 == 0 && sum > 200) // -> true covered, false covered
            valid[i] = 1;
        else
            valid[i] = -1;
    } else {
        valid[i] = 0;
    }
}
