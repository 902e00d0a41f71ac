// CHANGELOG.md as data: versions in the form of Keep a Changelog 1.1.0, the product of each change as its section, and the
// changes as Markdown.

import { readFileSync } from 'node:fs'

export interface ChangelogVersion {
  /** Such as 1.2.0; `unreleased` for what no version has yet. */
  version: string
  /** null: not released. */
  date: string | null
  changes: { section: string; text: string }[]
}

const FILE = new URL('../../../CHANGELOG.md', import.meta.url)
const VERSION = /^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?/
const SECTION = /^### (.+)$/
const CHANGE = /^[-*] (.+)$/
const CONTINUED = /^ {2,}(\S.*)$/

/** @param baseUrl Without a trailing slash: links to docs/ lead there. */
export function readChangelog(baseUrl: string): ChangelogVersion[] {
  return parseChangelog(readFileSync(FILE, 'utf8'), baseUrl)
}

export function parseChangelog(markdown: string, baseUrl: string): ChangelogVersion[] {
  const versions: ChangelogVersion[] = []
  let section = ''
  for (const line of markdown.split('\n')) {
    const [, name, date] = VERSION.exec(line) ?? []
    const current = versions.at(-1)
    const last = current?.changes.at(-1)
    if (name !== undefined) {
      versions.push({ version: name.toLowerCase(), date: date ?? null, changes: [] })
      section = ''
    } else if (SECTION.test(line)) section = SECTION.exec(line)?.[1] ?? ''
    else if (CHANGE.test(line)) current?.changes.push({ section, text: CHANGE.exec(line)?.[1] ?? '' })
    else if (CONTINUED.test(line) && last !== undefined) last.text += ` ${CONTINUED.exec(line)?.[1] ?? ''}`
  }
  for (const change of versions.flatMap(({ changes }) => changes)) change.text = withLinks(change.text, baseUrl)
  return versions
}

// Pages of docs/ are served; other files of the repository are not, so that their links become their texts.
function withLinks(text: string, baseUrl: string): string {
  return text.replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, (link, label, target) => {
    const [, page, anchor = ''] = /^docs\/([\w/-]+)\.md(#[\w-]+)?$/.exec(target) ?? []
    if (page !== undefined) return `[${label}](${baseUrl}/docs/${page}${anchor})`
    return /^https?:/.test(target) ? link : label
  })
}
