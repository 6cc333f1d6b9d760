import type { ComponentType } from 'preact'
import { withLateTexts } from '../../../locales/late-texts.ts'
import type { ConfirmRedirectProps } from './ConfirmRedirect.tsx'
import type { NoAccessProps } from './NoAccess.tsx'

/** The parts of the page that few users need, once they have loaded. */
export const late: { NoAccess?: ComponentType<NoAccessProps>; ConfirmRedirect?: ComponentType<ConfirmRedirectProps> } =
  {}

export async function loadNoAccess(): Promise<void> {
  const { NoAccess } = await withLateTexts(import('./NoAccess.tsx'))
  late.NoAccess = NoAccess
}

export async function loadConfirmRedirect(): Promise<void> {
  const { ConfirmRedirect } = await import('./ConfirmRedirect.tsx')
  late.ConfirmRedirect = ConfirmRedirect
}
