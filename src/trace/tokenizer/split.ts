// How a text is cut into pieces before byte pairs are merged. Each model file names its way (`tokenizer.ggml.pre`); a wrong
// one gives tokens that the model has rarely seen, so an unknown name is refused.
// https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp

// Unicode's White_Space. JavaScript's \s has U+FEFF too, and lacks U+0085.
const SPACE = '\\p{White_Space}'
const CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"

const GPT_2 = new RegExp(
  `${CONTRACTIONS}| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|${SPACE}+(?!\\P{White_Space})|${SPACE}+`,
  'gu',
)
const LLAMA_3 = new RegExp(
  `(?:${CONTRACTIONS.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)})` +
    `|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^${SPACE}\\p{L}\\p{N}]+[\\r\\n]*` +
    `|${SPACE}*[\\r\\n]+|${SPACE}+(?!\\P{White_Space})|${SPACE}+`,
  'gu',
)
const NUMERAL = /(\p{N})/u

export interface Splitter {
  split(text: string): string[]
  /** A piece that is a token as a whole is not merged from its bytes. */
  isWholeFirst: boolean
  /** What the model's file says nothing of, these models expect. */
  beginsByDefault: boolean
}

const gpt2: Splitter = {
  split: (text) => text.match(GPT_2) ?? [],
  isWholeFirst: false,
  beginsByDefault: false,
}
// Numerals one by one, then as GPT-2 does between them.
const smollm: Splitter = {
  ...gpt2,
  split: (text) =>
    text
      .split(NUMERAL)
      .flatMap((part, index) => (part === '' ? [] : index % 2 === 1 ? [part] : (part.match(GPT_2) ?? []))),
}
const llama3: Splitter = {
  split: (text) => text.match(LLAMA_3) ?? [],
  isWholeFirst: true,
  beginsByDefault: true,
}

const SPLITTERS: Readonly<Record<string, Splitter>> = {
  'gpt-2': gpt2,
  gpt2,
  smollm,
  'llama-bpe': llama3,
  'llama-v3': llama3,
  llama3,
}

export const SPLITTER_NAMES = Object.keys(SPLITTERS)

export function findSplitter(name: string): Splitter | undefined {
  return Object.hasOwn(SPLITTERS, name) ? SPLITTERS[name] : undefined
}
