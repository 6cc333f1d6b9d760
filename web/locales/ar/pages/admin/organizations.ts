import type { adminOrganizationsMessages as english } from '../../../en/pages/admin/organizations.ts'

/** Holds the messages about organizations, for operators. In Arabic. */
export const adminOrganizationsMessages: typeof english = {
  title: 'المؤسسات',
  lead: 'يديرها مالكوها. ترى أنها موجودة، لا ما تفعله.',
  none: 'لا مؤسسات بعد',
  noneWhat: 'ينشئها المستخدمون في صفحات المؤسسات.',
  name: 'المؤسسة',
  status: 'الحالة',
  statuses: { active: 'نشطة', suspended: 'معلّقة' },
  members: 'الأعضاء',
  owners: 'المالكون',
  created: 'أُنشئت',
  menuOf: (organization) => `إجراءات ${organization}`,
  suspend: 'تعليق',
  suspendTitle: (organization) => `تعليق ${organization}`,
  suspendWhat: 'لا وصول لأعضائها ورموزها حتى تعيد تنشيطها. لا يُحذف شيء.',
  suspended: (organization) => `عُلّقت ${organization}.`,
  activate: 'تنشيط',
  activateTitle: (organization) => `تنشيط ${organization}`,
  activateWhat: 'يعود لأعضائها الوصول.',
  activated: (organization) => `نُشّطت ${organization}.`,
}
