// Five guards, one inside the other, each over another argument or element.
kernel void nested_orders(global const int *price, global int *out, int low, int high, int lot, float limit) {
    int i = get_global_id(0);
    int p = price[i];
    int kind = 0;
    if (low > 40 && high < 90) {             // -> true covered
        if (p >= low && p <= high) {         // -> true covered, false covered
            kind = 1;
            if (p % 13 == 5) {               // -> true covered, false covered
                kind = 2;
                if (lot * 3 - p == 217) {    // -> true covered, false covered
                    kind = 3;
                    if ((float)lot > limit)  // -> true covered, false covered
                        kind = 4;
                    else
                        kind = 5;
                }
            }
        }
    }
    out[i] = kind;
}
