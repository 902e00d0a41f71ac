// Pages as text. What stands between the tags is escaped where it is put in: there is no other way to put it in.

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

declare const SAFE: unique symbol

/** Made by `html` only. */
export interface Html {
  readonly text: string
  readonly [SAFE]: true
}

/** Text becomes harmless, what `html` made stays as it is, and lists follow one another. */
export function html(parts: TemplateStringsArray, ...values: (string | number | Html | readonly Html[])[]): Html {
  const text = parts.map((part, index) => part + (index < values.length ? textOf(values[index] ?? '') : '')).join('')
  return { text } as Html
}

/** Escaped, with `code` between backticks as code. */
export function prose(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
  return html`${parts}`
}

export interface Page {
  title: string
  /** Addresses relative to the page. */
  styles: readonly string[]
  scripts?: readonly { src: string; isModule?: true }[]
  links: readonly { href: string; text: string }[]
  body: Html
}

export function renderPage({ title, styles, scripts = [], links, body }: Page): string {
  const scriptTags = scripts.map(({ src, isModule }) =>
    isModule ? html`<script src="${src}" type="module"></script>\n` : html`<script src="${src}" defer></script>\n`,
  )
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
${styles.map((href) => html`<link rel="stylesheet" href="${href}">\n`)}${scriptTags}</head>
<body>
<header class="bar"><strong>Countersign</strong>${links.map(({ href, text }) => html` <a href="${href}">${text}</a>`)}</header>
${body}
</body>
</html>
`.text
}

function textOf(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'object') return 'text' in value ? value.text : value.map((one) => one.text).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
