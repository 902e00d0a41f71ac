// The frame of every page: the bar with the search, the list of guides, and the page's contents. Addresses are relative
// to the page, so that it works under any host name and path.

import type { Assets } from './assets.ts'
import { type Group, pathToRoot } from './guides.ts'
import { type Html, html } from './html.ts'

export interface DocsPage {
  /** Where it is served. */
  path: string
  title: string
  body: Html
  /** Headings for the list beside the text. */
  contents?: readonly { anchor: string; text: string }[]
  /** Pages before and after this one. */
  previous?: { path: string; title: string } | undefined
  next?: { path: string; title: string } | undefined
  /** No list of guides beside the text, and the whole width for it. */
  isWide?: true
  styles?: readonly string[]
  scripts?: readonly { src: string; isModule?: true }[]
}

export interface Layout {
  assets: Assets
  groups: readonly Group[]
}

export function renderPage(page: DocsPage, { assets, groups }: Layout): string {
  const root = pathToRoot(page.path)
  const asset = (name: Parameters<Assets['nameOf']>[0]) => `${root}docs/assets/${assets.nameOf(name)}`
  const styles = [...(page.styles ?? []), asset('pages.css')]
  const scripts = [...(page.scripts ?? []), { src: asset('guides.js'), isModule: true as const }]
  const places = [
    { path: '/docs', text: 'Guides' },
    { path: '/docs/api-reference', text: 'API reference' },
    { path: '/docs/events', text: 'Events' },
    { path: '/docs/errors', text: 'Errors' },
    { path: '/docs/roles', text: 'Roles' },
  ]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title === 'Countersign' ? page.title : `${page.title} · Countersign`}</title>
<link rel="icon" href="data:,">
${styles.map((href) => html`<link rel="stylesheet" href="${href}">\n`)}${scripts.map(scriptTag)}</head>
<body data-root="${root}">
<a class="skip" href="#text">Skip to the text</a>
<header class="bar">
<a class="brand" href="${root}">Countersign</a>
<nav aria-label="Main">${places.map(
    ({ path, text }) => html`<a href="${root}${path.slice(1)}"${current(path, page.path)}>${text}</a>`,
  )}</nav>
<div class="search" id="search" hidden>
<input type="search" id="query" placeholder="Search the documents" aria-label="Search the documents" autocomplete="off" spellcheck="false" aria-controls="found">
<div class="found" id="found" role="listbox" aria-label="What was found" hidden></div>
</div>
</header>
${page.isWide === undefined ? columns(page, groups, root) : html`<main id="text" class="whole">${page.body}</main>`}
</body>
</html>
`.text
}

function columns(page: DocsPage, groups: readonly Group[], root: string): Html {
  const list = groups.map(
    ({ title, guides }) => html`<p>${title}</p>
<ul>${guides.map(
      ({ name, title: text }) =>
        html`<li><a href="${root}docs/${name}"${current(`/docs/${name}`, page.path)}>${text}</a></li>`,
    )}</ul>
`,
  )
  const contents = page.contents ?? []
  return html`<div class="columns">
<nav class="guides" aria-label="Guides">${list}</nav>
<details class="guides-menu"><summary>All guides</summary><nav aria-label="All guides">${list}</nav></details>
<main id="text" class="text">
${page.body}${neighbours(page, root)}</main>
${
  contents.length < 2
    ? html``
    : html`<nav class="contents" aria-label="On this page"><p>On this page</p>
<ul>${contents.map(({ anchor, text }) => html`<li><a href="#${anchor}">${text}</a></li>`)}</ul></nav>
`
}</div>`
}

function neighbours({ previous, next }: DocsPage, root: string): Html {
  if (previous === undefined && next === undefined) return html``
  const to = (page: { path: string; title: string } | undefined, word: string, kind: string) =>
    page === undefined
      ? html`<span></span>`
      : html`<a class="${kind}" href="${root}${page.path.slice(1)}"><small>${word}</small>${page.title}</a>`
  return html`<nav class="neighbours" aria-label="Before and after">${to(previous, 'Before', 'previous')}${to(next, 'Next', 'next')}</nav>\n`
}

function current(path: string, here: string): Html {
  return path === here ? html` aria-current="page"` : html``
}

function scriptTag({ src, isModule }: { src: string; isModule?: true }): Html {
  return isModule ? html`<script src="${src}" type="module"></script>\n` : html`<script src="${src}" defer></script>\n`
}
