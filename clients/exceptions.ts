// What no rule gives the client libraries. Each entry says why; one that nothing uses any more is refused.

export interface Exceptions {
  /** Names of arguments in the path, by path and placeholder, where answers call the same id otherwise. */
  arguments: Record<string, Record<string, string>>
  /** A second method for an operation that answers another content type on request. */
  variants: Record<string, { sdk: string; contentType: string; summary: string }>
  /** Operations that only the library for TypeScript has, by the first group of their method. */
  browserGroups: readonly string[]
}

export const EXCEPTIONS: Exceptions = {
  arguments: {
    '/v1/account/keys/{id}': { id: 'api_key_id' },
    '/v1/account/keys/{id}/revoke': { id: 'api_key_id' },
    '/v1/account/keys/{id}/rotate': { id: 'api_key_id' },
    '/v1/account/audit/{id}': { id: 'audit_entry_id' },
    '/v1/claims/attest/sessions/{id}': { id: 'capture_session_id' },
    '/v1/claims/attest/sessions/{id}/chunks/{index}': { id: 'capture_session_id' },
    '/v1/trace/disclosure-requests/{id}': { id: 'request_id' },
    '/v1/trace/disclosure-requests/{id}/deny': { id: 'request_id' },
    '/v1/trace/disclosure-requests/{id}/grant': { id: 'request_id' },
    '/v1/trace/disclosure-requests/{id}/revoke': { id: 'request_id' },
    '/v1/trace/models/{id}': { id: 'model_version_id' },
    '/v1/trace/models/{id}/graphs': { id: 'model_version_id' },
    '/v1/trace/session-locks/{id}': { id: 'lock_id' },
    '/v1/trace/session-locks/{id}/clear': { id: 'lock_id' },
    '/v1/agents/{id}/sessions/{session}': { session: 'agent_session_id' },
    '/v1/agents/{id}/sessions/{session}/end': { session: 'agent_session_id' },
  },
  variants: {
    exportEvidence: {
      sdk: 'claims.evidence.download',
      contentType: 'application/pdf',
      summary: 'The evidence packet as a PDF document, for people.',
    },
  },
  // People sign in and confirm with passkeys in browsers.
  browserGroups: ['auth', 'passkeys'],
}
