//! Drops an auditor's note that drifted into a foreign script (O21).
//!
//! A model that follows an account's language preference answers in that language. Between two
//! languages of the Latin script this cannot be seen.

/// The note, or an empty text where the note holds letters of a script that occurs in none of
/// `sources` (the objective and the text of the turn). The verdict is not concerned.
#[must_use]
pub fn guard<'n>(note: &'n str, sources: &[&str]) -> &'n str {
    let foreign = Script::ALL.into_iter().any(|script| {
        script.writes(note) && !sources.iter().any(|source| script.occurs_in(source))
    });
    if foreign { "" } else { note }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Devanagari,
    Thai,
    /// Han, kana and Hangul: Japanese and Korean texts mix them.
    EastAsian,
}

impl Script {
    const ALL: [Self; 7] = [
        Self::Greek,
        Self::Cyrillic,
        Self::Hebrew,
        Self::Arabic,
        Self::Devanagari,
        Self::Thai,
        Self::EastAsian,
    ];

    /// Whether the note is written in this script. A lone Greek letter is a symbol: π, µ, Δ.
    fn writes(self, note: &str) -> bool {
        let letters_needed = if self == Self::Greek { 2 } else { 1 };
        let mut run = 0;
        note.chars().any(|character| {
            run = if self.has(character) { run + 1 } else { 0 };
            run == letters_needed
        })
    }

    fn occurs_in(self, text: &str) -> bool {
        text.chars().any(|character| self.has(character))
    }

    /// Punctuation and digits of the blocks are shared between scripts and do not count.
    fn has(self, character: char) -> bool {
        let code = u32::from(character);
        let within = |&(first, last): &(u32, u32)| (first..=last).contains(&code);
        character.is_alphabetic() && self.blocks().iter().any(within)
    }

    const fn blocks(self) -> &'static [(u32, u32)] {
        match self {
            Self::Greek => &[(0x0370, 0x03ff), (0x1f00, 0x1fff)],
            Self::Cyrillic => &[
                (0x0400, 0x052f),
                (0x1c80, 0x1c8f),
                (0x2de0, 0x2dff),
                (0xa640, 0xa69f),
            ],
            Self::Hebrew => &[(0x0590, 0x05ff), (0xfb1d, 0xfb4f)],
            Self::Arabic => &[
                (0x0600, 0x06ff),
                (0x0750, 0x077f),
                (0x0870, 0x08ff),
                (0xfb50, 0xfdff),
                (0xfe70, 0xfeff),
            ],
            Self::Devanagari => &[(0x0900, 0x097f), (0xa8e0, 0xa8ff)],
            Self::Thai => &[(0x0e00, 0x0e7f)],
            Self::EastAsian => &[
                (0x1100, 0x11ff),
                (0x2e80, 0x2fdf),
                (0x3005, 0x3007),
                (0x3040, 0x30ff),
                (0x3105, 0x318f),
                (0x31a0, 0x31bf),
                (0x31f0, 0x31ff),
                (0x3400, 0x4dbf),
                (0x4e00, 0x9fff),
                (0xa960, 0xa97f),
                (0xac00, 0xd7ff),
                (0xf900, 0xfaff),
                (0xff66, 0xffdc),
                (0x1_aff0, 0x1_b16f),
                (0x2_0000, 0x3_ffff),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::guard;

    #[test]
    fn a_script_that_nobody_used_drops_the_note() {
        for (note, sources) in [
            ("Тесты не запущены", ["Run the tests", "All done"]),
            ("テストが未実行", ["Run the tests", ""]),
            ("测试未运行", ["Run the tests", "données"]),
            ("테스트 미실행", ["Run", "Тесты"]),
            ("परीक्षण बाकी है", ["Run", "done"]),
            ("الاختبارات لم تشغل", ["Run", "done"]),
            ("Οι δοκιμές λείπουν", ["Run", "done"]),
            ("הבדיקות חסרות", ["Run", "done"]),
            ("ยังไม่ได้ทดสอบ", ["Run", "done"]),
            ("tests missing 测", ["Run", "done"]),
            ("\u{20000} missing", ["Run", "done"]),
        ] {
            assert_eq!(guard(note, &sources), "", "{note}");
        }
    }

    #[test]
    fn a_script_that_somebody_used_keeps_it() {
        for (note, sources) in [
            ("Tests nicht gelaufen, große Lücke", ["Run the tests", ""]),
            ("Тесты не запущены", ["Запусти тесты", ""]),
            ("Тесты не запущены", ["Run", "файл готов"]),
            ("テスト", ["実行", ""]),
            ("δοκιμές", ["δ", ""]),
            ("Δ is below 3 π, 5 µs", ["Run", "done"]),
            ("“quoted” – … 「」、100 % ✓ 🎯", ["Run", "done"]),
            ("", ["", ""]),
        ] {
            assert_eq!(guard(note, &sources), note, "{note}");
        }
    }

    #[test]
    fn without_sources_every_guarded_script_is_foreign() {
        assert_eq!(guard("готово", &[]), "");
        assert_eq!(guard("done", &[]), "done");
    }
}
