// HTML as tagged templates. Every inserted value is escaped; there is no other way to insert one.

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

declare const SAFE: unique symbol

/** Made by `html` only. */
export interface Html {
  readonly text: string
  readonly [SAFE]: true
}

/** Escapes text, keeps the output of `html` as it is, and joins lists. */
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
