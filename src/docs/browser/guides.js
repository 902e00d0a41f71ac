// Copy buttons, tabs of languages and the search, which loads its index from this service only.

import { addCopyButton } from './copy.js'
import { makeTabs } from './tabs.js'

const root = new URL(document.body.dataset.root ?? './', window.location.href)

for (const block of document.querySelectorAll('.code')) addCopyButton(block)
makeTabs(document.querySelectorAll('.tabs'))

const MAX_FOUND = 12
const AROUND = 60
const place = document.getElementById('search')
const query = document.getElementById('query')
const found = document.getElementById('found')
let search
let selected = -1

place.hidden = false
query.addEventListener('focus', load, { once: true })
query.addEventListener('input', async () => {
  await load()
  show(query.value)
})
query.addEventListener('keydown', (event) => {
  const links = found.querySelectorAll('a')
  if (event.key === 'Escape') close()
  else if (event.key === 'ArrowDown') select(links, Math.min(selected + 1, links.length - 1))
  else if (event.key === 'ArrowUp') select(links, Math.max(selected - 1, 0))
  else if (event.key === 'Enter') links[Math.max(selected, 0)]?.click()
  else return
  event.preventDefault()
})
document.addEventListener('click', (event) => {
  if (!place.contains(event.target)) close()
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  query.focus()
})

// The libraries and the index come at the first search: most readers don't search.
function load() {
  search ??= Promise.all([
    import('./search.js'),
    import('./minisearch.js'),
    import('./stemmer.js'),
    fetch(new URL('docs/search.json', root)).then((answer) =>
      answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))),
    ),
  ])
    .then(([{ createSearch }, { default: MiniSearch }, { stemmer }, entries]) =>
      createSearch({ MiniSearch, stemmer }, entries),
    )
    .catch(() => {
      search = undefined
      return () => []
    })
  return search
}

async function show(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const results = (await load())(text).slice(0, MAX_FOUND)
  // The answer of an earlier query must not replace that of a later one.
  if (text !== query.value) return
  selected = -1
  found.hidden = words.length === 0
  found.replaceChildren(
    ...(results.length === 0
      ? [element('p', 'Nothing was found.')]
      : results.map(({ entry, terms }) => linkTo(entry, [...words, ...terms]))),
  )
}

function linkTo({ path, page, heading, text }, words) {
  const link = element('a')
  link.href = new URL(path, root).href
  link.setAttribute('role', 'option')
  const title = element('strong')
  title.append(...marked(heading, words))
  const snippet = element('span')
  snippet.append(...marked(around(text, words), words))
  link.append(title, element('small', page), snippet)
  link.addEventListener('click', close)
  return link
}

function around(text, words) {
  const lower = text.toLowerCase()
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((one) => one >= 0), text.length)
  const start = at === text.length ? 0 : Math.max(0, at - AROUND)
  const end = Math.min(text.length, start + 3 * AROUND)
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`
}

function marked(text, words) {
  const lower = text.toLowerCase()
  const parts = []
  let end = 0
  while (end < text.length) {
    const hits = words.map((word) => ({ word, at: lower.indexOf(word, end) })).filter(({ at }) => at >= 0)
    const next = hits.sort((a, b) => a.at - b.at || b.word.length - a.word.length)[0]
    if (next === undefined) break
    parts.push(text.slice(end, next.at), element('mark', text.slice(next.at, next.at + next.word.length)))
    end = next.at + next.word.length
  }
  return [...parts, text.slice(end)]
}

function select(links, next) {
  links[selected]?.removeAttribute('aria-selected')
  selected = next
  links[selected]?.setAttribute('aria-selected', 'true')
  links[selected]?.scrollIntoView({ block: 'nearest' })
}

function close() {
  found.hidden = true
  selected = -1
}

function element(name, text) {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  return made
}
