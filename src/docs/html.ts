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

function textOf(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'object') return 'text' in value ? value.text : value.map((one) => one.text).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
