// A destructive call asks a person first. A host that can't ask a person has its model repeat the id, so that no call ends something
// by a slip.

import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Answer } from '../calls/caller.ts'
import { refusalOf, show } from '../calls/results.ts'
import type { Operation } from '../operation.ts'

// Ids of operations without one in their path.
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  'intent.revocations.create': ['jti', 'agent_session_id', 'device_id'],
}

export const CONFIRM = {
  type: 'string',
  description: 'The id of what ends, once more. Only where the host can’t ask a person.',
} as const

/** What has to be repeated: the id of what ends, or the name of an operation that ends everything of its kind. */
export function targetOf({ name, pathArguments }: Operation, args: Answer): string {
  const names = TARGETS[name] ?? pathArguments.slice(-1)
  const value = names.map((one) => args[one]).find((one) => one !== undefined)
  return value === undefined ? name : String(value)
}

/** Undefined where the call may go on. */
export function askFirst(
  operation: Operation,
  args: Answer,
  { server, context }: { server: McpServer; context: ServerContext },
): CallToolResult | InputRequiredResult | undefined {
  if (operation.effect !== 'destructive') return undefined
  const target = targetOf(operation, args)
  if (!canAsk(server, context)) {
    if (args.confirm === target) return undefined
    return refusalOf(
      'confirmation_required',
      `This can't be undone by a model: repeat the call with confirm ${show(target)}.`,
    )
  }
  // The key names the target, so the answer about one does not count for another.
  const key = `${operation.name} ${target}`
  const view = inputResponse(context.mcpReq.inputResponses, key)
  if (view.kind === 'elicit') {
    const isConfirmed = view.action === 'accept' && (view.content as Answer | undefined)?.confirm === true
    return isConfirmed ? undefined : refusalOf('not_confirmed', 'The person did not confirm it. Nothing was changed.')
  }
  return inputRequired({
    inputRequests: {
      [key]: inputRequired.elicit({
        message: `${operation.summary}: ${show(target)}`,
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Yes, do it' } },
          required: ['confirm'],
        },
      }),
    },
  })
}

/** A host of 2026 says with each request what it can do, one of 2025 when it connects. Over HTTP the latter can't be asked. */
function canAsk({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  const { elicitation } = (declared ?? {}) as ClientCapabilities
  // Before there were two modes, a host declared none.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}
