import type { ComponentType } from 'preact'
import { withLateTexts } from '../../../locales/late-texts.ts'
import type { NoAccessProps } from './NoAccess.tsx'

/** The part of the page for users without access, once it has loaded: few users need it. */
export const late: { NoAccess?: ComponentType<NoAccessProps> } = {}

export async function loadNoAccess(): Promise<void> {
  const { NoAccess } = await withLateTexts(import('./NoAccess.tsx'))
  late.NoAccess = NoAccess
}
