import type { ComponentChildren } from 'preact'
import { LocaleProvider } from '../../components/frame/Root.tsx'
import { useBusinessMessages } from './words.ts'

/** Adds the error messages that only the pages of organizations show. */
export function Refusals({ children }: { children: ComponentChildren }) {
  return <LocaleProvider refused={useBusinessMessages().refused}>{children}</LocaleProvider>
}
