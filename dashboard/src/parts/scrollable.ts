/** For `Table.ScrollContainer`: a table that is wider than its page is scrolled by the keyboard, too. */
export const SCROLLABLE = { tabIndex: 0 } as const
