// The prompt of a conversation, for models whose chat template is ChatML: `<|im_start|>ROLE\nCONTENT<|im_end|>\n`. The
// template in a file is a program (Jinja); it is compared with the forms that are known, and never run.

import { modelError } from '../gguf/model-error.ts'
import { type Tokenizer, TURN } from './tokenizer.ts'

export const CHAT_ROLES = ['system', 'user', 'tool', 'assistant'] as const
export type ChatRole = (typeof CHAT_ROLES)[number]

export interface ChatMessage {
  role: ChatRole
  content: string
}

/** The tokens of one message's content, from `start` up to `end`, the end not included. */
export interface ChatSpan {
  role: ChatRole
  start: number
  end: number
}

export interface ChatPrompt {
  tokens: number[]
  /** One span for each message, and for the system message that the template adds. */
  spans: ChatSpan[]
}

export interface ChatTemplate {
  /** The prompt up to where the assistant's answer begins. */
  render(messages: readonly ChatMessage[]): ChatPrompt
}

const TURNS =
  "{{'<|im_start|>'+message['role']+'\\n'+message['content']+'<|im_end|>'+'\\n'}}{%endfor%}" +
  "{%ifadd_generation_prompt%}{{'<|im_start|>assistant\\n'}}{%endif%}"
const PLAIN = `{%formessageinmessages%}${TURNS}`
// A conversation without a system message gets the template's own.
const WITH_SYSTEM =
  /^\{%formessageinmessages%\}\{%ifloop\.firstandmessages\[0\]\['role'\]!='system'%\}\{\{'<\|im_start\|>system\\n([^'\\{}]*)<\|im_end\|>\\n'\}\}\{%endif%\}/

/** @throws {ModelError} when the template is another one, or the vocabulary lacks its tokens. */
export function createChatTemplate(template: unknown, tokenizer: Tokenizer): ChatTemplate {
  const system = typeof template === 'string' ? readTemplate(template) : undefined
  const opens = tokenizer.findToken(TURN.opens)
  const closes = tokenizer.findToken(TURN.closes)
  if (system === undefined || opens === undefined || closes === undefined) throw noTemplate()
  const [opening, closing] = [[opens], [closes]]
  const newline = tokenizer.encode('\n')

  function render(given: readonly ChatMessage[]): ChatPrompt {
    const isAdded = system !== null && given[0]?.role !== 'system'
    const messages = isAdded ? [{ role: 'system' as const, content: system ?? '' }, ...given] : given
    const tokens: number[] = []
    const spans: ChatSpan[] = []
    for (const { role, content } of messages) {
      // In one piece, as the template's result would be: line breaks at the start of the content join that of the role.
      const turn = tokenizer.encode(`${role}\n${content}`)
      const start = tokens.length + 1 + countWithin(turn, role.length + 1)
      add(opening, turn)
      spans.push({ role, start, end: tokens.length })
      add(closing, newline)
    }
    add(opening, tokenizer.encode('assistant\n'))
    return { tokens, spans }

    function add(...lists: readonly number[][]): void {
      for (const list of lists) for (const token of list) tokens.push(token)
    }
  }

  /** How many of the first tokens lie within the first `bytes` bytes. */
  function countWithin(turn: readonly number[], bytes: number): number {
    let end = 0
    let count = 0
    for (const token of turn) {
      end += tokenizer.bytesOf(token).length
      if (end > bytes) break
      count += 1
    }
    return count
  }

  return { render }
}

const noTemplate = () =>
  modelError('model_unsupported', 'The model has no chat template of the form ChatML; give it a text instead.')

/** The system message that the template adds, null where it adds none; undefined where it is not ChatML. */
function readTemplate(template: string): string | null | undefined {
  // The text of the added message keeps its blanks, so they are only taken out of the rest.
  const literal = /'<\|im_start\|>system(?:\\n|\n)([^'\\{}]*)<\|im_end\|>(?:\\n|\n)'/.exec(template)?.[1]
  const squeezed = template
    .replace(literal ?? /$^/, '')
    // Files have the line break both as an escape and as a character.
    .replaceAll(/'([^']*)'/g, (text) => text.replaceAll('\n', '\\n'))
    .replaceAll(/\s+/g, '')
  if (squeezed === PLAIN) return null
  const head = WITH_SYSTEM.exec(squeezed)?.[0]
  return head !== undefined && `{%formessageinmessages%}${squeezed.slice(head.length)}` === PLAIN
    ? (literal ?? '')
    : undefined
}
