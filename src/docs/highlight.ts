// Highlights comments, strings and keywords of the languages that the guides show. One pass over the text; text that
// matches no rule stays as it is.

import { type Html, html } from './html.ts'

const SCRIPT =
  /(?<comment>\/\/[^\n]*)|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|(?<word>\b(?:import|from|export|const|let|function|return|async|await|if|else|for|of|in|new|throw|try|catch|interface|type|true|false|null|undefined|typeof)\b)/g
const PYTHON =
  /(?<comment>#[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<word>\b(?:import|from|def|class|return|if|elif|else|for|in|not|and|or|with|as|try|except|raise|True|False|None|lambda)\b)/g
const SHELL =
  /(?<comment>(?<=^|\s)#[^\n]*)|(?<string>"(?:\\.|[^"\\])*"|'[^'\n]*')|(?<word>(?<=^|\n|\| |&& )(?:npm|node|curl|export|openssl|python3|mkdir|cd|echo|cat|kubectl|docker|psql|npx)\b)/g
const DATA = /(?<comment>$^)|(?<string>"(?:\\.|[^"\\\n])*"(?=\s*:))|(?<word>\b(?:true|false|null)\b)/g

const RULES: Record<string, RegExp> = {
  ts: SCRIPT,
  js: SCRIPT,
  python: PYTHON,
  sh: SHELL,
  '': SHELL,
  json: DATA,
}

export function highlight(text: string, language: string): Html {
  // A block without a language is a command or what it prints; values in it begin with a brace.
  const rule = language === '' && /^\s*[{[]/.test(text) ? DATA : RULES[language]
  if (rule === undefined) return html`${text}`
  const parts: Html[] = []
  let end = 0
  for (const match of text.matchAll(rule)) {
    const { index, 0: found, groups = {} } = match
    const kind = groups.comment !== undefined ? 'c' : groups.string !== undefined ? 's' : 'w'
    parts.push(html`${text.slice(end, index)}<span class="${kind}">${found}</span>`)
    end = index + found.length
  }
  return html`${parts}${text.slice(end)}`
}
