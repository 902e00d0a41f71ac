// What a mail says, as plain text and as simple HTML that loads nothing. Parts are texts: markup comes from here alone.

export interface Letter {
  subject: string
  /** Paragraphs before the link. */
  paragraphs: readonly string[]
  action: { label: string; url: string }
  /** After the link: how long it works, and what to do with an unexpected mail. */
  notes: readonly string[]
}

export function renderLetter({ subject, paragraphs, action, notes }: Letter) {
  const text = [...paragraphs, `${action.label}:\n${action.url}`, ...notes, SIGNATURE].join('\n\n')
  const html = [
    '<!doctype html><html lang="en"><body style="font-family: sans-serif; line-height: 1.5; color: #1a1a1a">',
    ...paragraphs.map(paragraph),
    `<p><a href="${escapeHtml(action.url)}" style="display: inline-block; padding: 10px 18px; background: #1f4f8f; color: #ffffff; text-decoration: none; border-radius: 4px">${escapeHtml(action.label)}</a></p>`,
    `<p>If the button does not work, open this address:<br>${escapeHtml(action.url)}</p>`,
    ...notes.map(paragraph),
    paragraph(SIGNATURE),
    '</body></html>',
  ].join('\n')
  return { subject, text: `${text}\n`, html: `${html}\n` }
}

const SIGNATURE = 'Countersign'

function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
