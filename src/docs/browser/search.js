// The search of the pages: BM25 over stems of words, by MiniSearch. It is given the two libraries, so that tests of Node can run it.

const FIELDS = ['heading', 'words', 'page', 'text']
// A heading says more than the text below it. `words` are what readers search for and the text does not contain.
const BOOST = { heading: 5, words: 8, page: 3, text: 1 }
// A prefix of one or two letters is in nearly every section.
const MIN_PREFIX = 3
// Near spellings of short words are other words.
const MIN_FUZZY = 5
const FUZZY = 0.25

/** Returns `search(text)`: entries, the best first, each with the stems that it was found by. */
export function createSearch({ MiniSearch, stemmer }, entries) {
  const stem = (term) => stemmer(term.toLowerCase())
  const index = new MiniSearch({ fields: FIELDS, processTerm: stem })
  index.addAll(entries.map((entry, id) => ({ ...entry, id })))
  const prefix = (term) => term.length >= MIN_PREFIX
  const fuzzy = (term) => (term.length >= MIN_FUZZY ? FUZZY : false)
  // All words as they are written, else all words in near spellings, else any of them.
  const attempts = [
    { combineWith: 'AND', prefix },
    { combineWith: 'AND', prefix, fuzzy },
    { combineWith: 'OR', prefix, fuzzy },
  ]
  return (text) => {
    for (const attempt of attempts) {
      const found = index.search(text, { boost: BOOST, ...attempt })
      if (found.length > 0) return found.map(({ id, terms }) => ({ entry: entries[id], terms }))
    }
    return []
  }
}
