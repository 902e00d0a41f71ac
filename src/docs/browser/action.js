// How an action is shown to people who decide about it, and hashed: as the token is bound to it.

const WORDS = /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+/gu
// What shows nothing, turns the direction of what follows, or strikes through what stands before it.
const HIDING =
  '\\p{Default_Ignorable_Code_Point}\\p{Cc}\\p{Cf}\\p{Cn}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Me}' +
  '\\u0334-\\u0338\\u20d2\\u20d3\\u20d8-\\u20da\\u20e5\\u20e6\\u20ea\\u20eb\\u2800'
// Scripts with letters that look like Latin ones.
const ALIKE = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu']
  .map((one) => `\\p{Script=${one}}`)
  .join('')
const LATIN = /\p{Script=Latin}/u
const LOOKALIKE = new RegExp(`[${ALIKE}]`, 'u')
// What is marked in a word whose letters are of several scripts, and in one whose accents stand apart.
const MARKED = ['', ALIKE, '\\p{Mn}', `${ALIKE}\\p{Mn}`].map((more) => new RegExp(`([${HIDING}${more}])`, 'u'))

// A tree of lists. Names and values are texts: nothing of an action is markup. Names are quoted: a name can look like the
// number of an element, or end with a space.
export function treeOf(value) {
  if (typeof value !== 'object' || value === null) {
    const leaf = document.createElement('code')
    leaf.append(visible(typeof value === 'string' ? JSON.stringify(value) : String(value)))
    return leaf
  }
  const list = document.createElement('ul')
  for (const [name, member] of Object.entries(value)) {
    const item = document.createElement('li')
    const label = document.createElement('b')
    label.append(visible(Array.isArray(value) ? `${Number(name) + 1}.` : JSON.stringify(name)))
    item.append(label, ' ', treeOf(member))
    list.append(item)
  }
  if (list.children.length > 0) return list
  return Object.assign(document.createElement('code'), { textContent: Array.isArray(value) ? '[]' : '{}' })
}

// Characters that hide or mislead are shown by their numbers. The treatment of a letter depends on its word: a letter
// of another script among Latin ones imitates them, and a separate accent makes another text that looks the same.
export function visible(text) {
  const shown = document.createDocumentFragment()
  for (const [word] of text.matchAll(WORDS)) {
    const isMixed = LATIN.test(word) && LOOKALIKE.test(word)
    const isApart = word !== word.normalize('NFC')
    const parts = word.split(MARKED[Number(isMixed) + 2 * Number(isApart)])
    for (const [index, part] of parts.entries()) {
      if (index % 2 === 0) shown.append(part)
      else shown.append(markOf(part), part === '\n' ? '\n' : '')
    }
  }
  return shown
}

/** RFC 8785. Numbers and texts are written as JSON.stringify writes them. */
export function canonical(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const sorted = Object.keys(value).sort()
  return `{${sorted.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

export async function hashOf(text) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return btoa(String.fromCharCode(...digest))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

function markOf(character) {
  const number = `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  const textContent = character === '\n' ? '↵' : LOOKALIKE.test(character) ? `${character} (${number})` : number
  return Object.assign(document.createElement('mark'), { textContent })
}
