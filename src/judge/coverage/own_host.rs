//! Coverage of launches that a user's own program makes: the map of a module with probes, and what a probe buffer says
//! that the program read back.

use std::path::Path;

use kassay_base::error::{Error, Result};
use kassay_base::hash::Fnv1a;
use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_ir::instrument::coverage::{CoveragePlan, Evidence};
use kassay_ir::instrument::layout::{CoverageLayout, HEADER_WORDS, Slots, header};
use kassay_ir::llvm::View;
use kassay_model::code::Target;
use kassay_results::result::mcdc::{Criterion, Mcdc};
use kassay_results::result::probe_map::{CoverageMap, HeaderLayout, KernelBeside, Outcome, Site, SlotsOf};
use kassay_run::exec::Code;
use kassay_suite::launch::NdRange;

use super::build::KernelUnderTest;
use super::mcdc;
use super::summary::{self, SiteRow, TestTally};
use super::tally::{self, Probe, SiteEvidence, SiteTally};

/// Where the words of the header are.
const HEADER: HeaderLayout = HeaderLayout {
    length: header::LENGTH,
    groups: header::GROUPS,
    local: header::LOCAL,
    global: header::GLOBAL,
    magic: header::MAGIC,
    id: header::ID,
};

/// Weaves probes into kernels that come to be in one module, the first of which has the others beside it: adds these.
/// Returns the module's code, and the probes' map for each kernel. `source` is the kernels' file as results name it;
/// `slots` says what has a slot of its own in the probe buffer; `mcdc`, that the kernels' sites are those with vectors
/// ([`KernelUnderTest::with_vectors`]); `target`, the form of the code.
///
/// # Errors
/// As [`KernelUnderTest::instrumented`].
pub fn instrumented(
    kernels: &mut [KernelUnderTest<'_>],
    source: &str,
    (slots, mcdc): (SlotsOf, bool),
    target: Target,
) -> Result<(Code, Vec<CoverageMap>)> {
    let ids: Vec<u32> = kernels.iter().map(|kernel| module_id(kernel, slots)).collect();
    let Some((first, others)) = kernels.split_first_mut() else { return Err(Error::internal("there is no kernel")) };
    let mut plans = Vec::new();
    for (kernel, id) in others.iter().zip(&ids[1..]) {
        let (module, plan) = kernel.with_probes(bounded(slots, *id), target)?;
        View::of(&module).strip_debug_info();
        first.beside.push(module.write_bitcode_to_memory().as_slice().to_vec());
        plans.push(plan);
    }
    let (code, plan) = first.instrumented(bounded(slots, ids[0]), target)?;
    plans.insert(0, plan);
    let beside = |id: u32| {
        let others = kernels.iter().zip(&ids).filter(move |(_, other)| **other != id);
        others.map(|(kernel, id)| KernelBeside { kernel: kernel.entry.clone(), id: *id }).collect()
    };
    let maps = (kernels.iter().zip(&plans).zip(&ids))
        .map(|((kernel, plan), id)| CoverageMap {
            beside: beside(*id),
            decisions: mcdc.then(|| mcdc::decisions(&kernel.sites, source)),
            ..map_of(&kernel.sites, plan, (*id, slots), source)
        })
        .collect();
    Ok((code, maps))
}

fn bounded(slots: SlotsOf, id: u32) -> Slots {
    match slots {
        SlotsOf::WorkGroups => Slots::Bounded { id },
        SlotsOf::WorkItems => Slots::BoundedItems { id },
    }
}

/// Returns the number that tells a module from others: a hash of the kernel's code, the ids of its sites, and what has
/// a slot.
fn module_id(under_test: &KernelUnderTest<'_>, slots: SlotsOf) -> u32 {
    let mut hash = Fnv1a::default();
    if slots == SlotsOf::WorkItems {
        hash.add(b"work-items");
    }
    hash.add(env!("CARGO_PKG_VERSION").as_bytes());
    hash.add(under_test.code_text().as_bytes());
    for site in &under_test.sites.sites {
        hash.add(site.id.as_bytes());
        hash.add(&[0]);
    }
    let hash = hash.value();
    (hash ^ hash >> 32) as u32
}

fn map_of(sites: &Sites, plan: &CoveragePlan, (id, slots): (u32, SlotsOf), source: &str) -> CoverageMap {
    let rows = summary::rows(sites, source);
    let evidence = tally::evidence(sites, plan);
    let site = |(row, evidence): (SiteRow<'_>, SiteEvidence)| Site {
        id: row.id.to_owned(),
        kind: row.kind.name().to_owned(),
        construct: row.construct.to_owned(),
        function: row.function.to_owned(),
        location: row.location,
        outcomes: (row.outcomes.iter().zip(evidence.outcomes))
            .map(|(name, evidence)| Outcome {
                outcome: (*name).to_owned(),
                always: evidence.always,
                bits: evidence.bits.into_iter().collect(),
            })
            .collect(),
    };
    CoverageMap {
        id,
        beside: Vec::new(),
        slots,
        header_words: HEADER_WORDS as u32,
        header_layout: HEADER,
        slot_words: plan.layout.stride(),
        bit_words: plan.layout.words,
        barrier_bits: plan.layout.barrier_bits,
        sites: rows.into_iter().zip(evidence).map(site).collect(),
        decisions: None,
    }
}

/// What a probe buffer says that several launches wrote to.
#[derive(Debug)]
pub struct Launches {
    /// By site, in the map's order.
    pub sites: Vec<SiteTally>,
    /// The work-items of one of the last launches, and its work-groups.
    pub last: (u64, u64),
}

/// The coverage part of a map, ready to tally probe buffers.
#[derive(Debug)]
pub struct Reader<'a> {
    map: &'a CoverageMap,
    layout: CoverageLayout,
    evidence: Vec<SiteEvidence>,
    rows: Vec<SiteRow<'a>>,
}

/// What a probe buffer says.
#[derive(Debug)]
pub struct Launch {
    /// By site, in the map's order.
    pub sites: Vec<SiteTally>,
    /// The range of the launch; of several launches, that of the last one.
    pub range: NdRange,
    /// The number of slots, if some work-groups shared the last one.
    pub too_few_slots: Option<u64>,
}

impl<'a> Reader<'a> {
    /// Checks that a map can be relied on. `path` is that of its file.
    ///
    /// # Errors
    /// `Caller` if it contradicts itself, so that it is not as kassay wrote it.
    pub fn new(map: &'a CoverageMap, path: &Path) -> Result<Reader<'a>> {
        let wrong = |what: String| {
            Error::caller(format!("{} contradicts itself: {what}", path.display()))
                .help("take the map as `kassay lower --map` wrote it, or lower the kernel again")
        };
        let layout = CoverageLayout {
            slots: bounded(map.slots, map.id),
            words: map.bit_words,
            missed_words: if map.slots == SlotsOf::WorkItems { 0 } else { map.barrier_bits.div_ceil(32) },
            barrier_bits: map.barrier_bits,
        };
        if u64::from(map.header_words) != HEADER_WORDS || map.header_layout != HEADER {
            return Err(wrong("its header is not that of this version of the layout".to_owned()));
        }
        let slot_words = u64::from(map.bit_words) + u64::from(layout.missed_words);
        if map.bit_words == 0 || layout.missed_words > map.bit_words || u64::from(map.slot_words) != slot_words {
            let CoverageMap { slot_words, bit_words, barrier_bits, .. } = map;
            return Err(wrong(format!(
                "slots of {slot_words} words cannot have {bit_words} words of bits and {barrier_bits} bits of barriers"
            )));
        }
        let (mut rows, mut evidence) = (Vec::new(), Vec::new());
        for site in &map.sites {
            let kind = SiteKind::of_name(&site.kind)
                .ok_or_else(|| wrong(format!("site `{}` is of the unknown kind `{}`", site.id, site.kind)))?;
            let is_barrier = kind == SiteKind::Barrier;
            let limit = 32 * u64::from(map.bit_words);
            if let Some(bit) = site.outcomes.iter().flat_map(|o| &o.bits).find(|bit| u64::from(**bit) >= limit) {
                return Err(wrong(format!("site `{}` has bit {bit}, and there are {limit}", site.id)));
            }
            // A decision that is not measured has none.
            let is_none = site.outcomes.is_empty() && kind != SiteKind::Decision;
            if is_none || is_barrier && site.outcomes.len() > 1 {
                return Err(wrong(format!("site `{}` has {} outcomes", site.id, site.outcomes.len())));
            }
            let of = |o: &Outcome| Evidence { always: o.always, bits: o.bits.iter().copied().collect() };
            evidence.push(SiteEvidence { is_barrier, outcomes: site.outcomes.iter().map(of).collect() });
            rows.push(SiteRow {
                id: &site.id,
                kind,
                construct: &site.construct,
                function: &site.function,
                location: site.location.clone(),
                outcomes: site.outcomes.iter().map(|o| o.outcome.as_str()).collect(),
            });
        }
        let vectors: Vec<usize> =
            rows.iter().filter(|row| row.kind == SiteKind::Decision).map(|row| row.outcomes.len()).collect();
        let decisions = map.decisions.as_deref().unwrap_or_default();
        if !decisions.iter().map(|decision| decision.vectors.len()).eq(vectors) {
            return Err(wrong("its decisions are not those of its sites".to_owned()));
        }
        decisions.iter().try_for_each(|decision| mcdc::check(decision).map_err(&wrong))?;
        Ok(Reader { map, layout, evidence, rows })
    }

    /// Returns the MC/DC of launches; `None` if the module records no test vectors.
    pub fn mcdc(&self, launches: &[TestTally], criterion: Criterion) -> Option<Mcdc> {
        let positions = (0..self.rows.len()).filter(|s| self.rows[*s].kind == SiteKind::Decision);
        let decisions = self.map.decisions.clone()?;
        Some(mcdc::measure_at(decisions.into_iter().zip(positions), launches, criterion))
    }

    /// Returns the map's sites.
    pub fn rows(&self) -> &[SiteRow<'a>] {
        &self.rows
    }

    /// Returns whether hits are numbers of work-items.
    pub fn counts(&self) -> bool {
        self.layout.slots.are_per_item()
    }

    /// Tallies a probe buffer: its bytes as the host read them back, words with the low byte first. `path` is that of
    /// its file. `None` if another kernel of the module wrote it.
    ///
    /// # Errors
    /// `Caller` if it is not a buffer that the map's module wrote to, or one that is damaged.
    pub fn tally(&self, bytes: &[u8], path: &Path) -> Result<Option<Launch>> {
        let wrong = |what: String, help: String| Error::caller(format!("{}: {what}", path.display())).help(help);
        let Some(words) = self.words(bytes, path)? else { return Ok(None) };
        let (word, length) = (|position: u32| words[position as usize], words.len() as u64);
        let slot_words = u64::from(self.map.slot_words);
        let slots = (length - HEADER_WORDS) / slot_words;
        if slots == 0 {
            let what = format!("{length} words have no room for a slot of {slot_words} words: nothing was recorded");
            let help = format!("the buffer needs at least {} words", HEADER_WORDS + slot_words);
            return Err(wrong(what, help));
        }
        let three = |first: u32| [0, 1, 2].map(|d| u64::from(word(first + d)));
        let (groups, local) = (three(header::GROUPS), three(header::LOCAL));
        let range = NdRange { dims: 3, global: three(header::GLOBAL), local: Some(local), offset: [0; 3] };
        let items = range.global.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
        if local.contains(&0) || items.is_none() || range.group_counts() != groups {
            let what = format!(
                "its header is damaged: {} work-items in groups of {} are not {} groups",
                by_dimension(range.global),
                by_dimension(local),
                by_dimension(groups)
            );
            return Err(wrong(what, "one buffer can take several launches, one after the other".to_owned()));
        }
        let wanted = self.layout.words_for(&range).unwrap_or(u64::MAX);
        if self.counts() && wanted > length {
            let what = format!(
                "it has {slots} slots, too few for {} work-items in groups of {}: those without a slot are not counted",
                by_dimension(range.global),
                by_dimension(local)
            );
            return Err(wrong(what, format!("such a launch needs a buffer of {wanted} words")));
        }
        let too_few_slots = Some(slots).filter(|slots| *slots < range.groups() && !self.counts());
        let probe = Probe { words: &words, range: &range };
        let sites = tally::tally_evidence(&self.evidence, &self.layout, probe);
        Ok(Some(Launch { sites, range, too_few_slots }))
    }

    /// Returns the positions and values of the words that a buffer of `length` words has before its first launch, for
    /// [`Reader::tally_launches`]; the others are zero. The kernel writes some of them itself, but the process may be
    /// killed before.
    pub fn first_words(map: &CoverageMap, length: u64) -> impl Iterator<Item = (u64, u32)> + use<> {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let words = [(header::LENGTH, length), (header::MAGIC, header::MAGIC_NUMBER), (header::ID, map.id)];
        words.into_iter().map(|(position, value)| (u64::from(position), value))
    }

    /// Tallies a probe buffer that any number of launches wrote to, also at the same time and with other ranges, by
    /// site in the map's order. No work-groups count as divergent. The parameters are those of [`Reader::tally`];
    /// `None` if no work-item has written to it.
    ///
    /// # Errors
    /// As [`Reader::tally`], but for those of the last launch's range.
    pub fn tally_launches(&self, bytes: &[u8], path: &Path) -> Result<Option<Launches>> {
        let first: Vec<usize> = Self::first_words(self.map, 0).map(|(position, _)| position as usize).collect();
        let is_unused = bytes
            .chunks_exact(4)
            .enumerate()
            .all(|(position, word)| first.contains(&position) || word.iter().all(|byte| *byte == 0));
        if is_unused {
            return Ok(None);
        }
        let Some(words) = self.words(bytes, path)? else { return Ok(None) };
        let sites = tally::tally_launches(&self.evidence, &self.layout, &words);
        // Launches at the same time may have mixed their sizes up.
        let product =
            |first: u32| (first..first + 3).map(|at| u64::from(words[at as usize])).fold(1, u64::saturating_mul);
        Ok(Some(Launches { sites, last: (product(header::GLOBAL), product(header::GROUPS)) }))
    }

    /// Reads the words of a probe buffer. `None` if another kernel of the module wrote it.
    fn words(&self, bytes: &[u8], path: &Path) -> Result<Option<Vec<u32>>> {
        let wrong = |what: String, help: String| Error::caller(format!("{}: {what}", path.display())).help(help);
        let slot_words = u64::from(self.map.slot_words);
        let sizes = format!(
            "write the whole buffer as it was read back: {HEADER_WORDS} words of 4 bytes, and {slot_words} for each slot"
        );
        if !bytes.len().is_multiple_of(4) {
            return Err(wrong(format!("{} bytes are no whole number of 32-bit words", bytes.len()), sizes));
        }
        let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let length = words.len() as u64;
        if length < HEADER_WORDS {
            return Err(wrong(
                format!("{length} words are no probe buffer: the header alone has {HEADER_WORDS}"),
                sizes,
            ));
        }
        let word = |position: u32| words[position as usize];
        let magic = word(header::MAGIC);
        if magic == header::MAGIC_NUMBER.swap_bytes() {
            let help = "write words with the low byte first, as devices of that byte order have them in memory";
            return Err(wrong("its words have the high byte first".to_owned(), help.to_owned()));
        }
        if magic != header::MAGIC_NUMBER {
            let what =
                format!("no kernel with coverage probes has written to it: word {} is {magic:#x}", header::MAGIC);
            let help = "wait for the launch to end, then read the buffer back from its first word on; it is the \
                        kernel's last argument";
            return Err(wrong(what, help.to_owned()));
        }
        if self.map.beside.iter().any(|beside| beside.id == word(header::ID)) {
            return Ok(None);
        }
        if word(header::ID) != self.map.id {
            let (found, id) = (word(header::ID), self.map.id);
            return Err(wrong(
                format!("another module wrote it: its number is {found:#010x}, the map's {id:#010x}"),
                "use the module and the map that one run of `kassay lower` wrote".to_owned(),
            ));
        }
        let said = u64::from(word(header::LENGTH));
        if said != length {
            let what = format!("it has {length} words, but word {} says {said}", header::LENGTH);
            let help =
                format!("before a launch, write the buffer's length in words to word {}; {sizes}", header::LENGTH);
            return Err(wrong(what, help));
        }
        Ok(Some(words))
    }
}

fn by_dimension(sizes: [u64; 3]) -> String {
    sizes.map(|size| size.to_string()).join(" x ")
}

#[cfg(test)]
mod tests {
    use kassay_results::result::Location;

    use super::*;

    /// A branch with two outcomes, and a barrier that its evidence shares a word with.
    fn map() -> CoverageMap {
        let outcome = |name: &str, bit: u32| Outcome { outcome: name.to_owned(), always: false, bits: vec![bit] };
        let site = |kind: &str, outcomes: Vec<Outcome>| Site {
            id: kind.to_owned(),
            kind: kind.to_owned(),
            construct: "if".to_owned(),
            function: "k".to_owned(),
            location: Location { file: "k.cl".to_owned(), line: 1, column: 1 },
            outcomes,
        };
        CoverageMap {
            id: 77,
            beside: Vec::new(),
            slots: SlotsOf::WorkGroups,
            header_words: HEADER_WORDS as u32,
            header_layout: HEADER,
            slot_words: 2,
            bit_words: 1,
            barrier_bits: 1,
            sites: vec![
                site("barrier", vec![outcome("all", 0)]),
                site("branch", vec![outcome("true", 1), outcome("false", 2)]),
            ],
            decisions: None,
        }
    }

    /// A buffer with these slots after a launch of one work-group, whatever came before it.
    fn buffer(map: &CoverageMap, slots: &[[u32; 2]]) -> Vec<u32> {
        let length = HEADER_WORDS + 2 * slots.len() as u64;
        let mut words = vec![0_u32; length as usize];
        Reader::first_words(map, length).for_each(|(position, value)| words[position as usize] = value);
        for position in [header::GROUPS, header::LOCAL, header::GLOBAL] {
            words[position as usize..position as usize + 3].fill(1);
        }
        for (slot, word) in words[HEADER_WORDS as usize..].iter_mut().zip(slots.as_flattened()) {
            *slot = *word;
        }
        words
    }

    fn tally(slots: &[[u32; 2]]) -> Vec<SiteTally> {
        let map = map();
        let reader = Reader::new(&map, Path::new("map")).unwrap();
        let bytes: Vec<u8> = buffer(&map, slots).iter().flat_map(|word| word.to_le_bytes()).collect();
        reader.tally_launches(&bytes, Path::new("probe")).unwrap().unwrap().sites
    }

    #[test]
    fn bits_of_all_launches_count_whatever_the_last_one_was() {
        // The last launch had one work-group; an earlier one had four.
        let sites = tally(&[[0b010, 0], [0, 0], [0, 0], [0b101, 0]]);
        assert_eq!((sites[0].hits.as_slice(), sites[1].hits.as_slice()), (&[1][..], &[1, 1][..]));
        // Both outcomes in a slot may be of two launches: nothing diverged for sure.
        let sites = tally(&[[0b110, 0]]);
        assert_eq!((sites[1].hits.as_slice(), sites[1].divergent_groups), (&[1, 1][..], 0));
        // Some work-items arrived and some did not.
        let sites = tally(&[[0b001, 0b001], [0, 0]]);
        assert_eq!((sites[0].hits.as_slice(), sites[0].divergent_groups), (&[0][..], 0));
    }

    #[test]
    fn a_buffer_that_nobody_wrote_to_says_nothing() {
        let map = map();
        let reader = Reader::new(&map, Path::new("map")).unwrap();
        let mut words = vec![0_u32; HEADER_WORDS as usize + 4];
        Reader::first_words(&map, HEADER_WORDS + 4).for_each(|(position, value)| words[position as usize] = value);
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        assert!(reader.tally_launches(&bytes(&words), Path::new("probe")).unwrap().is_none());
        // A process that was killed before the header was written leaves its bits.
        words[HEADER_WORDS as usize] = 0b010;
        let sites = reader.tally_launches(&bytes(&words), Path::new("probe")).unwrap().unwrap().sites;
        assert_eq!(sites[1].hits, [1, 0]);
        assert!(reader.tally_launches(&bytes(&words)[4..], Path::new("probe")).is_err());
    }
}
