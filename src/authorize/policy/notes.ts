import type { Note } from '#src/platform/http/openapi.ts'

export const NOTES: Record<string, Note> = {}
