// The entry `@countersign/client/guard`: it reads and writes files, which pages can't, so that they don't load it.

export { ActionFailed, NotAllowed, NotExecuted } from './guard/errors.ts'
export { type FileJournal, fileJournal } from './guard/file-journal.ts'
export {
  type GuardClient,
  type GuardOptions,
  guard,
  type OnUnknown,
  type UnknownAction,
} from './guard/guard.ts'
export { type Journal, type JournalEntry, JournalError, type JournalStep, type Outcome } from './guard/journal.ts'
export { type ResumedGuards, resumeGuards } from './guard/resume.ts'
