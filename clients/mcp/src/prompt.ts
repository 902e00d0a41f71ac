// The prompt `guard-this-tool`: how to put an existing tool behind Countersign.

import type { GetPromptResult, McpServer } from '@modelcontextprotocol/server'
import { fromJsonSchema } from '@modelcontextprotocol/server'

interface GuardArguments {
  tool: string
  language?: string
}

const LIBRARIES: Readonly<Record<string, string>> = {
  typescript: '`@countersign/client` (`new Countersign()`)',
  python: '`countersign` (`Countersign()`)',
}

export function addPrompt(server: McpServer): void {
  server.registerPrompt(
    'guard-this-tool',
    {
      title: 'Guard this tool',
      description: 'Change a tool so that each of its actions is authorized, verified and reported.',
      argsSchema: fromJsonSchema<GuardArguments>({
        type: 'object',
        properties: {
          tool: { type: 'string', description: 'Name or code of the tool.' },
          language: { type: 'string', description: 'typescript (default) or python.' },
        },
        required: ['tool'],
      }),
    },
    ({ tool, language = 'typescript' }): GetPromptResult => ({
      messages: [{ role: 'user', content: { type: 'text', text: textOf(tool, language) } }],
    }),
  )
}

function textOf(tool: string, language: string): string {
  const library = LIBRARIES[language.toLowerCase()] ?? 'the HTTP interface'
  return [
    `Change this tool so that Countersign decides about each of its actions, with ${library}:`,
    '',
    tool,
    '',
    '1. Describe the action in one sentence for people (`action_description`), and put everything that changes its effect into',
    '   `action_payload`: amount, recipient, item. What is not in it is not protected.',
    '2. `intent.authorize` with both, `agent_session_id` and `device_id`. Where the answer has an `approval_id`, wait for people with',
    '   `approvals.retrieve` and `wait`; after a denial stop.',
    '3. `intent.verify` right before the action, with the same description and payload. `valid: false` is a refusal, and with',
    '   `already_executed` the action has run before: do not run it, and show the reason.',
    '4. Run the action once, in the process that verified it. No other code may reach what the tool does.',
    '5. `intent.executions.report` with `succeeded`, or with `failed` or `not_run` where it is certain that nothing happened. When that',
    '   is unknown, report nothing and tell a person: a budget that is given back by mistake can be spent twice.',
    '',
    'Show the changed tool, and a test in which a refused action does not run.',
  ].join('\n')
}
