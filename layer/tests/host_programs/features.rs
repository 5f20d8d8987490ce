//! What programs use, and what of it is in the spool.

use serde_json::{Value, json};

use crate::harness::{Program, Spool, Way, assert_same};

/// `CL_MEM_READ_WRITE`, of the three flags that say what kernels do with memory.
const READ_WRITE: u64 = 1;

/// The value of an output line `NAME: …` of the C programs, as integers.
fn printed(output: &[u8], name: &str) -> Vec<i32> {
    let text = String::from_utf8(output.to_vec()).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap().to_owned();
    line.split(' ').map(|word| word.parse().unwrap()).collect()
}

fn memory_of(launch: &Value, argument: usize) -> &Value {
    &launch["memory"][launch["arguments"][argument]["memory"].as_u64().unwrap() as usize]
}

#[test]
fn arguments_are_kept_as_they_were_at_the_launch() {
    let program = Program::new("arguments");
    let native = program.native(&[]);
    for spool in program.same("{}", &[]) {
        let process = spool.process();
        process.check_counts();
        assert!(process.has_ended());
        let [launch] = process.launches_of("scale")[..] else { panic!() };
        assert_eq!((&launch["offset"], &launch["global"], &launch["local"]), (&json!([8]), &json!([32]), &json!([8])));
        let arguments = &launch["arguments"];
        assert_eq!(arguments[2], json!({"kind": "value", "bytes": "03000000"}));
        assert_eq!(arguments[3], json!({"kind": "value", "bytes": "6400000007000000"}));
        assert_eq!(arguments[4], json!({"kind": "local", "size": 32}));
        assert_eq!(arguments[5], json!({"kind": "null"}));
        let (input, output) = (memory_of(launch, 0), memory_of(launch, 1));
        assert_eq!(spool.integers(&input["before"]), (0..64).collect::<Vec<_>>());
        assert_eq!((&input["after"], &input["may_be_written"]), (&Value::Null, &json!(false)));
        assert_eq!((&input["written"], &output["written"]), (&json!(true), &json!(false)));
        assert_eq!(spool.integers(&output["after"])[8..40], printed(&native.stdout, "scaled"));
        assert_eq!((process.count("scale", "launches"), process.count("scale", "refused")), (1, 1));

        // Parts of one buffer that overlap are one piece of memory.
        let added = process.launches_of("add");
        let align = i32::from_le_bytes(spool.blob(&added[0]["memory"][0]["before"])[..4].try_into().unwrap()) * 4;
        assert_eq!(added[0]["memory"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&added[0]["memory"][0]["offset"], &added[0]["memory"][0]["size"]),
            (&json!(align), &json!(3 * align))
        );
        let part = |offset: i32| json!({"kind": "memory", "memory": 0, "offset": offset, "size": 2 * align});
        let mut arguments = added[0]["arguments"].clone();
        for argument in arguments.as_array_mut().unwrap() {
            // What else a driver says of a part is its own choice.
            let flags = argument.as_object_mut().unwrap().remove("flags").and_then(|flags| flags.as_u64());
            assert_eq!(flags.unwrap() & 7, READ_WRITE);
        }
        assert_eq!(arguments, json!([part(0), part(align)]));
        assert_eq!(spool.integers(&added[0]["memory"][0]["after"])[0], printed(&native.stdout, "added")[0]);

        // Buffers made one after the other are different objects, whatever their handles were.
        assert_eq!((process.count("add", "launches"), process.count("add", "not-sampled")), (4, 1));
        let doubled: Vec<_> = added[1..]
            .iter()
            .map(|launch| (&launch["launch"], spool.integers(&launch["memory"][0]["after"])))
            .collect();
        assert_eq!(doubled, [(&json!(2), vec![0]), (&json!(4), vec![40])]);
        assert_ne!(added[1]["memory"][0]["object"], added[2]["memory"][0]["object"]);
    }
}

#[test]
fn memory_is_read_however_it_is_made() {
    for spool in Program::new("memory").same("{}", &[]) {
        let process = spool.process();
        process.check_counts();
        let launch = |name: &str| process.launches_of(name)[0].clone();
        let twice = launch("twice");
        assert_eq!(spool.integers(&twice["memory"][0]["before"])[..2], [21, 0]);
        assert_eq!(spool.integers(&twice["memory"][0]["after"])[..2], [42, 0]);
        let fill = launch("fill");
        assert_eq!(spool.integers(&fill["memory"][0]["after"]), [5; 16]);
        assert_eq!(fill["memory"][0]["written"], false);
        let blur = launch("blur");
        assert_eq!(spool.blob(&memory_of(&blur, 0)["before"]), (0..60).collect::<Vec<u8>>());
        assert_eq!(memory_of(&blur, 0)["image"]["extent"], json!([5, 3, 1]));
        let blurred = spool.blob(&memory_of(&blur, 1)["after"]);
        assert_eq!((blurred[0], blurred[16], blurred[59]), (4, 16, 59));
        // CL_ADDRESS_CLAMP_TO_EDGE and CL_FILTER_NEAREST.
        assert_eq!(
            blur["arguments"][2],
            json!({"kind": "sampler", "normalized": false, "addressing": 0x1131, "filter": 0x1140})
        );
        let sum = launch("sum");
        let (first, out) = (memory_of(&sum, 0), memory_of(&sum, 1));
        let second = &sum["memory"][sum["indirect"][0].as_u64().unwrap() as usize];
        let next = u64::from_le_bytes(spool.blob(&first["before"])[..8].try_into().unwrap());
        assert_eq!(json!(next), second["address"]);
        assert_eq!(spool.integers(&out["after"]), [42]);
    }
}

#[test]
fn programs_are_told_apart_by_code_options_and_origin() {
    for spool in Program::new("programs").same("{}", &[]) {
        let process = spool.process();
        process.check_counts();
        let programs = spool.programs();
        let of = |launch: &Value| programs[launch["program"].as_str().unwrap()].clone();
        let steps: Vec<Value> = process.launches_of("step_on").into_iter().map(of).collect();
        let origins: Vec<&Value> = steps.iter().map(|program| &program["origin"]).collect();
        // The second is made of the first one's binary, so that it has the same lines.
        assert_eq!(origins, ["source"; 4]);
        assert_eq!(steps[0]["id"], steps[1]["id"]);
        assert_eq!(
            spool.text(&steps[0]["pieces"]),
            "#define STEP 5\nkernel void step_on(global int *a) { *a += STEP; }"
        );
        assert_eq!(steps[0]["pieces"].as_array().unwrap().len(), 2);
        assert_eq!((&steps[2]["options"], &steps[3]["options"]), (&json!("-DSTEP=1000"), &json!("-DSTEP=100")));
        assert_eq!(steps[2]["pieces"], steps[3]["pieces"]);
        let linked = of(process.launches_of("use")[0]);
        assert_eq!((&linked["origin"], &linked["stage"]), (&json!("linked"), &json!("link")));
        let main = &programs[linked["inputs"][1].as_str().unwrap()];
        assert_eq!((&main["stage"], &main["options"]), (&json!("compile"), &json!("-DX")));
        assert_eq!(main["headers"][0]["name"], "lib/triple.h");
        assert_eq!(spool.text(&main["headers"][0]["pieces"]), "int triple(int a);\n");
        let broken = programs.values().find(|program| program["status"] == "error").unwrap();
        assert_eq!((&broken["error"], &broken["options"]), (&json!(-11), &json!("-w")));
        assert!(broken["log"].as_str().unwrap().contains("error"));
    }
}

#[test]
fn order_of_queues_events_and_threads_is_kept() {
    for spool in Program::new("queues").same("{}", &[]) {
        let process = spool.process();
        process.check_counts();
        assert_eq!((process.count("twice", "launches"), process.count("more", "launches")), (3, 801));
        assert_eq!(process.count("more", "user-event"), 1);
        let kept = process.launches_of("twice");
        assert_eq!(spool.integers(&kept[0]["memory"][0]["before"]), [10, 20, 30, 40]);
        assert_eq!(kept[0]["queue"]["out_of_order"], true);
        assert!(!process.launches_of("more").is_empty());
        for launch in &process.launches {
            let contents = |when: &str| spool.integers(&launch["memory"][0][when]);
            let step = |value: i32| if launch["name"] == "twice" { 2 * value } else { value + 1 };
            assert_eq!(contents("after"), contents("before").into_iter().map(step).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_program_that_wants_a_gpu_gets_the_cpu() {
    let program = Program::new("gpu");
    for way in [Way::Proxy, Way::Layer] {
        let native = program.native(&[]);
        assert_same(&native, &program.under(way, "{}", &[]).0);
        if native.status.code() == Some(1) {
            let (output, spool) = program.under(way, r#"{"as_gpu": true}"#, &[]);
            assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"GPU: 1\n".as_slice()));
            assert_eq!(spool.process().record["way"], if way == Way::Proxy { "proxy" } else { "layer" });
        }
    }
}

#[test]
fn both_ways_at_once_count_once() {
    let program = Program::new("ends");
    let (output, spool) = program.under(Way::Both, "{}", &["return", "5"]);
    assert_same(&program.native(&["return", "5"]), &output);
    let process = spool.process();
    process.check_counts();
    assert_eq!(process.count("more", "launches"), 5);
}

#[test]
fn the_library_exports_its_entry_points_alone() {
    let names = std::process::Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(crate::harness::library())
        .output()
        .unwrap();
    let names = String::from_utf8(names.stdout).unwrap();
    let mut names: Vec<&str> = names.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "clDeinitLayer",
            "clGetExtensionFunctionAddress",
            "clGetLayerInfo",
            "clGetPlatformInfo",
            "clIcdGetPlatformIDsKHR",
            "clInitLayer",
            "clInitLayerWithProperties"
        ]
    );
}

/// Contents never lie about: a launch names only what is there.
#[test]
fn launches_name_contents_that_are_there() {
    let spools: Vec<Spool> = Program::new("ends").same(r#"{"all": true}"#, &["return", "20"]);
    for spool in spools {
        let process = spool.process();
        process.check_counts();
        assert_eq!(process.count("more", "kept"), 20);
        let before = process.launches.iter().map(|launch| spool.integers(&launch["memory"][0]["before"])[0]);
        assert_eq!(before.collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
        // 0 to 20 as values before or after, each once, and the program's text.
        assert_eq!(std::fs::read_dir(spool.folder.path().join("blobs")).unwrap().count(), 22);
    }
}
