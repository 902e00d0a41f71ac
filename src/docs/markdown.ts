// Renders Markdown. Each token is written through `html`, which escapes: raw HTML in a document is shown as text, and
// links have only the targets that `leadOf` returns.

import { Lexer, type Token, type Tokens } from 'marked'
import { highlight } from './highlight.ts'
import { type Html, html } from './html.ts'

export interface Heading {
  depth: number
  text: string
  /** What follows `#` in an address. */
  anchor: string
}

/** What stands under one heading, as plain text, for the search. */
export interface Section extends Heading {
  content: string
}

export interface Rendered {
  title: string
  body: Html
  sections: Section[]
}

/** Where a link or a picture of a document leads from its page; undefined where nothing is served, and then it is no link. */
export type LeadOf = (target: string) => string | undefined

export function renderMarkdown(markdown: string, leadOf: LeadOf): Rendered {
  const tokens = new Lexer({ gfm: true }).lex(markdown)
  const taken = new Map<string, number>()
  const sections: Section[] = []
  const body = withTabs(tokens).map((token) => {
    if (Array.isArray(token) || token.type !== 'heading') {
      const section = sections.at(-1)
      const plain = Array.isArray(token) ? token.map(plainOf).join(' ') : plainOf(token)
      if (section !== undefined) section.content = `${section.content} ${plain}`.trim()
      return Array.isArray(token) ? tabs(token) : block(token, leadOf)
    }
    const { depth, tokens: inner = [] } = token as Tokens.Heading
    const text = inner.map(plainOf).join('')
    const anchor = anchorOf(text, taken)
    sections.push({ depth, text, anchor, content: '' })
    return heading(depth, anchor, inline(inner, leadOf))
  })
  return { title: sections[0]?.text ?? '', body: html`${body}`, sections }
}

// Names of the tabs by the language of their blocks.
const TABS: Record<string, string> = { sh: 'curl', ts: 'TypeScript', python: 'Python' }

// Blocks of different languages of TABS with nothing between them say the same: they become tabs.
function withTabs(tokens: readonly Token[]): (Token | Tokens.Code[])[] {
  const grouped: (Token | Tokens.Code[])[] = []
  let run: Tokens.Code[] = []
  const end = () => {
    grouped.push(...(run.length > 1 ? [run] : run))
    run = []
  }
  for (const token of tokens) {
    if (token.type === 'space' && run.length > 0) continue
    const language = token.type === 'code' ? languageOf(token as Tokens.Code) : ''
    if (TABS[language] === undefined || run.some((one) => languageOf(one) === language)) end()
    if (TABS[language] === undefined) grouped.push(token)
    else run.push(token as Tokens.Code)
  }
  end()
  return grouped
}

// Without scripts the blocks stand below each other, each under its name.
function tabs(blocks: readonly Tokens.Code[]): Html {
  const panels = blocks.map(
    (one) => html`<div class="tab"><p>${TABS[languageOf(one)] ?? ''}</p>
${codeBlock(one)}</div>
`,
  )
  return html`<div class="tabs">${panels}</div>\n`
}

function languageOf({ lang = '' }: Tokens.Code): string {
  return lang.split(' ')[0] ?? ''
}

/** Returns the anchor that the usual renderers give a heading. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

function anchorOf(text: string, taken: Map<string, number>): string {
  const slug = slugOf(text)
  const count = taken.get(slug) ?? 0
  taken.set(slug, count + 1)
  return count === 0 ? slug : `${slug}-${count}`
}

function heading(depth: number, anchor: string, text: Html): Html {
  const mark = html`<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`
  if (depth === 1) return html`<h1 id="${anchor}">${text}</h1>\n`
  if (depth === 2) return html`<h2 id="${anchor}">${text}${mark}</h2>\n`
  return html`<h3 id="${anchor}">${text}${mark}</h3>\n`
}

function block(token: Token, leadOf: LeadOf): Html {
  switch (token.type) {
    case 'space':
    case 'def':
      return html``
    case 'hr':
      return html`<hr>\n`
    case 'paragraph':
      return html`<p>${inline(token.tokens ?? [], leadOf)}</p>\n`
    case 'blockquote':
      return html`<blockquote>${(token.tokens ?? []).map((one) => block(one, leadOf))}</blockquote>\n`
    case 'code':
      return codeBlock(token as Tokens.Code)
    case 'list':
      return list(token as Tokens.List, leadOf)
    case 'table':
      return table(token as Tokens.Table, leadOf)
    default:
      // Text of a tight list item, raw HTML, and unknown tokens: as text.
      return inline([token], leadOf)
  }
}

function codeBlock(token: Tokens.Code): Html {
  return html`<div class="code"><pre tabindex="0"><code>${highlight(token.text, languageOf(token))}</code></pre></div>\n`
}

function list({ ordered, items, start }: Tokens.List, leadOf: LeadOf): Html {
  const rows = items.map(({ tokens }) => html`<li>${tokens.map((one) => block(one, leadOf))}</li>\n`)
  return ordered ? html`<ol start="${start === '' ? 1 : start}">${rows}</ol>\n` : html`<ul>${rows}</ul>\n`
}

function table({ header, rows }: Tokens.Table, leadOf: LeadOf): Html {
  const head = header.map(({ tokens }) => html`<th>${inline(tokens, leadOf)}</th>`)
  const body = rows.map(
    (cells) => html`<tr>${cells.map(({ tokens }) => html`<td>${inline(tokens, leadOf)}</td>`)}</tr>\n`,
  )
  return html`<div class="wide" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>
${body}</tbody></table></div>\n`
}

function inline(tokens: readonly Token[], leadOf: LeadOf): Html {
  const parts = tokens.map((token): Html => {
    const inner = 'tokens' in token && token.tokens !== undefined ? inline(token.tokens, leadOf) : undefined
    switch (token.type) {
      case 'strong':
        return html`<strong>${inner ?? html``}</strong>`
      case 'em':
        return html`<em>${inner ?? html``}</em>`
      case 'del':
        return html`<del>${inner ?? html``}</del>`
      case 'codespan':
        return html`<code>${(token as Tokens.Codespan).text}</code>`
      case 'br':
        return html`<br>`
      case 'link':
        return link((token as Tokens.Link).href, inner ?? html``, leadOf)
      case 'image':
        return image(token as Tokens.Image, leadOf)
      case 'text':
        return inner ?? html`${decoded((token as Tokens.Text).text)}`
      case 'escape':
        return html`${(token as Tokens.Escape).text}`
      default:
        return html`${token.raw}`
    }
  })
  return html`${parts}`
}

function link(href: string, text: Html, leadOf: LeadOf): Html {
  const lead = leadOf(href)
  if (lead === undefined) return html`<span class="file" title="In the source: ${href}">${text}</span>`
  return html`<a href="${lead}">${text}</a>`
}

// Pages load nothing from another host: a picture that is not served here is named by a link.
function image({ href, text }: Tokens.Image, leadOf: LeadOf): Html {
  const lead = leadOf(href)
  if (lead === undefined || lead === href) return link(href, html`${text}`, leadOf)
  return html`<img src="${lead}" alt="${text}" loading="lazy">`
}

function plainOf(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((cells) => cells.map(({ tokens }) => tokens.map(plainOf).join('')).join(' ')).join(' ')
  }
  if (token.type === 'list') {
    return (token as Tokens.List).items.map(({ tokens }) => tokens.map(plainOf).join(' ')).join(' ')
  }
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(plainOf).join('')
  if (token.type === 'text') return decoded((token as Tokens.Text).text)
  if (token.type === 'space') return ' '
  return 'text' in token && typeof token.text === 'string' ? token.text : ''
}

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }

// The documents write these where a table or a sentence would otherwise be read as HTML.
function decoded(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}
