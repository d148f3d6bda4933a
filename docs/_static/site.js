// What assistive technology needs and the theme leaves out.
addEventListener('DOMContentLoaded', () => {
  for (const caption of document.querySelectorAll('.caption[role=heading]'))
    caption.setAttribute('aria-level', '2');
  for (const table of document.querySelectorAll('.table-wrapper')) table.tabIndex = 0;
  document.querySelector('.toc-drawer')?.setAttribute('aria-label', 'On this page');
  document.querySelector('.sidebar-drawer')?.setAttribute('aria-label', 'All pages');
});
