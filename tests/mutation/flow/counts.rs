//! Checks which mutants the operators find: text, line and column, counted by hand.

use kassay_judge::mutation::catalogue::operators::Preset;

use super::support::*;

#[test]
fn short_circuits_are_found_at_their_tokens() {
    let kernel = Kernel::new(
        "#define AND(x, y) ((x) && (y))\nkernel void k(global int *o, int a, int b) {\n  if (a && /* && */ !b) o[0] = 1;\n  o[1] = AND(a || b, b);\n}\n",
    );
    let seen = kernel.find(&["COR", "LCR"], Preset::Full);
    assert_eq!(seen.of("COR"), ["3:9 && -> ||", "4:10 && -> ||", "4:16 || -> &&"]);
    assert_eq!(
        seen.of("LCR")[..3],
        ["3:7 a && /* && */ !b -> a", "3:7 a && /* && */ !b -> !b", "3:7 a && /* && */ !b -> !(a && /* && */ !b)"]
    );
    assert_eq!(kernel.find(&["COR"], Preset::Peng).of("COR"), ["3:9 && -> ||"]);
}

#[test]
fn without_a_syntax_tree_tokens_at_debug_locations_decide() {
    let source = "kernel void k(global int *o, int a, int b, int c) {\n  if ((a && b) || !c) o[0] = 1;\n  o[1] = a || b;\n  while (a-- && b) o[2]++;\n  if (!(a && b)) o[3] = 1;\n}\n";
    let expected = ["2:10 && -> ||", "2:16 || -> &&", "3:12 || -> &&", "4:14 && -> ||", "5:11 && -> ||"];
    for kernel in [Kernel::new(source), Kernel::without_ast(source)] {
        let mut seen = kernel.find(&["COR"], Preset::Full).of("COR");
        seen.sort();
        assert_eq!(seen, expected);
    }
    assert_eq!(Kernel::without_ast(source).find(&["CSD"], Preset::Full).of("CSD").len(), 6);
}

#[test]
fn loops_inside_macros_are_left_alone_where_their_operators_are() {
    let kernel = Kernel::new(
        "#define ZERO(n) for (int i = 0; i < n; i++) o[i] = 0\n#define EACH(i, n) for (int i = 0; i < n; i++)\n\
         kernel void k(global int *o, int a) {\n  ZERO(a);\n  EACH(j, a) o[j]++;\n  while (a--) o[a]++;\n}\n",
    );
    assert_eq!(kernel.find(&["LBR"], Preset::Full).of("LBR").len(), 9);
    let seen = kernel.find(&["LBR"], Preset::Peng);
    assert_eq!(seen.of("LBR").len(), 6);
    assert_eq!(seen.reasons("LBR"), ["4:3 a loop inside a macro"]);
}
