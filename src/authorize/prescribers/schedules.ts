// The schedule of an order: the strictest of what the caller says, what the account's formulary says, and what the substances
// in the medication's name say. No source lowers what another one says. Pure.

import { type ControlledSchedule, type DrugSchedule, PREPARATIONS, SCHEDULES, SUBSTANCES } from './substances.ts'

export interface Medication {
  /** The schedule that the caller names. */
  requested: DrugSchedule
  /** RxNorm concept id (RXCUI), if the caller names one. */
  rxnorm: string | null
  name: string
}

export interface DecidedSchedule {
  schedule: DrugSchedule
  /** Which of the sources decided; with equal ones, the first of request, formulary and table. */
  source: 'request' | 'formulary' | 'table'
  /** The substance of the table that was found, if the table decided. */
  substance?: string
}

/** Schedules by RXCUI, for the concepts in question. */
export type Formulary = ReadonlyMap<string, DrugSchedule>

export function scheduleOf({ requested, rxnorm, name }: Medication, formulary: Formulary): DecidedSchedule {
  let decided: DecidedSchedule = { schedule: requested, source: 'request' }
  const listed = rxnorm === null ? undefined : formulary.get(rxnorm)
  if (listed !== undefined && isStricter(listed, decided.schedule)) decided = { schedule: listed, source: 'formulary' }
  const found = findSubstance(name)
  if (found !== undefined && isStricter(found.schedule, decided.schedule)) {
    decided = { schedule: found.schedule, source: 'table', substance: found.substance }
  }
  return decided
}

export function isStricter(one: DrugSchedule, other: DrugSchedule): boolean {
  return SCHEDULES.indexOf(one) > SCHEDULES.indexOf(other)
}

export interface FoundSubstance {
  schedule: ControlledSchedule
  substance: string
  /** Section and paragraph of 21 CFR. */
  cfr: string
}

/** The strictest substance whose name stands in a text as whole words. */
export function findSubstance(name: string): FoundSubstance | undefined {
  const words = wordsOf(name)
  let strictest: FoundSubstance | undefined
  for (let start = 0; start < words.length; start += 1) {
    const entry = longestAt(words, start)
    if (entry === undefined) continue
    const found = asPreparation(entry, words)
    if (strictest === undefined || isStricter(found.schedule, strictest.schedule)) strictest = found
    // The words of a longer name are no substances of their own: codeine in "codeine methylbromide", lysergic acid in LSD.
    start += wordsOf(entry.substance).length - 1
  }
  return strictest
}

const MARKS = /\p{M}/gu
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
// Letters of other alphabets that look like Latin ones: a name that reads "fentanyl" is fentanyl.
const LOOKALIKES: Record<string, string> = {
  ...{
    а: 'a',
    в: 'b',
    с: 'c',
    ԁ: 'd',
    е: 'e',
    һ: 'h',
    і: 'i',
    ј: 'j',
    к: 'k',
    м: 'm',
    п: 'n',
    о: 'o',
    р: 'p',
    ѕ: 's',
    т: 't',
  },
  ...{ у: 'y', х: 'x', ԝ: 'w', ѵ: 'v' },
  ...{ α: 'a', ε: 'e', η: 'n', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x' },
  ...{ ı: 'i', ł: 'l', ø: 'o', đ: 'd', ɑ: 'a', ɡ: 'g' },
}
// Greek letters that chemical names begin with are words: alpha, beta, gamma.
const GREEK_WORDS: Record<string, string> = { α: 'alpha', β: 'beta', γ: 'gamma', δ: 'delta' }
const SALTS =
  /(?<=.{5})(?:hydrochloride|hydrobromide|hcl|hbr|sulfate|sulphate|phosphate|citrate|bitartrate|tartrate|sodium|acetate|maleate|mesylate|dimesylate|decanoate|cypionate|enanthate|undecanoate|propionate)$/

/** Lower-case words of letters and digits, without accents, invisible characters, lookalikes and joined names of salts. */
function wordsOf(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(MARKS, '')
    .replace(INVISIBLE, '')
    .toLowerCase()
    .replace(/(?<![\p{L}])[αβγδ](?![\p{L}])/gu, (letter) => ` ${GREEK_WORDS[letter]} `)
    .replace(/[^\p{ASCII}]/gu, (letter) => LOOKALIKES[letter] ?? letter)
  // Digits beside letters stay: "5f adb", "u 47700". A strength is split off, as in "oxycodone10mg".
  return (folded.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) => {
    const [, letters = word, strength] = /^(\p{L}{5,})(\d.*)$/u.exec(word) ?? []
    return strength === undefined ? [letters.replace(SALTS, '')] : [letters.replace(SALTS, ''), strength]
  })
}

const namesIn = (list: string) => list.split(',').map((name) => name.trim().replace(/\s+/g, ' '))

/** The first words of names, with the names that begin with them, longest first. */
const NAMES: ReadonlyMap<string, readonly FoundSubstance[]> = (() => {
  const all = SUBSTANCES.flatMap(({ schedule, cfr, names }) =>
    namesIn(names).map((substance) => ({ schedule, cfr, substance, words: wordsOf(substance) })),
  )
  // With one name in two schedules the stricter one counts.
  all.sort((a, b) => b.words.length - a.words.length || SCHEDULES.indexOf(b.schedule) - SCHEDULES.indexOf(a.schedule))
  return Map.groupBy(all, ({ words: [first = ''] }) => first)
})()

function longestAt(words: readonly string[], start: number): FoundSubstance | undefined {
  return NAMES.get(words[start] ?? '')?.find(({ substance }) =>
    wordsOf(substance).every((word, offset) => words[start + offset] === word),
  )
}

function asPreparation(found: FoundSubstance, words: readonly string[]): FoundSubstance {
  const text = ` ${words.join(' ')} `
  const preparation = PREPARATIONS.find(
    ({ substance, beside }) =>
      substance === found.substance && namesIn(beside).some((name) => text.includes(` ${wordsOf(name).join(' ')} `)),
  )
  return preparation === undefined ? found : { ...found, schedule: preparation.schedule, cfr: preparation.cfr }
}
