// Charts of a report: drag to zoom, hover to read, click on a name to hide it, double click to see
// all, click to choose a moment. Charts of one group share their time axis and cursor; the overview
// of a group always shows everything, and dragging over it chooses what the others show.
'use strict';
(() => {
  const numbers = (text, Kind) => {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return Array.from(new Kind(bytes.buffer), v => Number.isFinite(v) ? v : null);
  };
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const hue = k => k < 0 ? color(`--grey${(-k - 1) % 2}`) : color(`--hue${k % 8}`);
  const isDark = matchMedia('(prefers-color-scheme: dark)'), onPaper = matchMedia('print');
  const hidden = new Set(), shown = {};
  let charts = [], following = false, ready = false;
  // All charts of a group show the same stretch; its overview marks it.
  const follow = (group, min, max) => {
    shown[group] = [min, max];
    following = true;
    for (const {plot, data} of charts) {
      if (data.group !== group) continue;
      if (data.overview) mark(plot, min, max);
      else if (plot.scales.x && (plot.scales.x.min !== min || plot.scales.x.max !== max))
        plot.setScale('x', {min, max});
    }
    following = false;
  };
  const mark = (u, min, max) => {
    const left = Math.max(u.valToPos(min, 'x'), 0), right = Math.min(u.valToPos(max, 'x'), u.over.clientWidth);
    u.setSelect({left, top: 0, width: Math.max(right - left, 2), height: u.over.clientHeight}, false);
  };
  const ends = u => [u.data[0][0], u.data[0][u.data[0].length - 1]];
  // Begin and end of each bar; the truth is the upper, grey half.
  const drawBars = (u, data) => {
    const {ctx} = u, {left, top, width, height} = u.bbox, row = height / data.rows.length;
    const half = data.true.length ? 0.36 * row : 0.6 * row;
    const draw = (spans, y, style) => {
      ctx.fillStyle = style;
      for (const [begin, end] of spans) {
        const a = Math.max(u.valToPos(begin, 'x', true), left);
        const b = Math.min(u.valToPos(end, 'x', true), left + width);
        if (b > a) ctx.fillRect(a, y, b - a, half);
      }
    };
    ctx.save();
    data.rows.forEach((name, i) => {
      const y = top + i * row + (data.true.length ? 0.12 : 0.2) * row;
      if (data.true.length) draw(data.true[i], y, hue(-1));
      draw(data.bars[i], data.true.length ? y + half : y, hue(i));
    });
    ctx.restore();
  };
  const drawBand = (u, data) => {
    const {ctx} = u, {left, top, width, height} = u.bbox;
    const y = Math.max(u.valToPos(data.band, 'y', true), top);
    ctx.save();
    ctx.globalAlpha = 0.22;
    ctx.fillStyle = hue(2);
    ctx.fillRect(left, y, width, Math.min(u.valToPos(0, 'y', true), top + height) - y);
    ctx.restore();
  };
  const choose = time => {
    for (const line of document.querySelectorAll('.viewer')) {
      line.hidden = false;
      line.querySelector('code').textContent = `${line.dataset.command} --at ${time.toFixed(3)}`;
    }
  };
  const build = (host, data) => {
    const rows = data.rows, overTime = data.along.startsWith('time') && !data.dates;
    const times = numbers(data.time, Float64Array);
    const axis = () => ({stroke: color('--soft'), grid: {stroke: color('--grid'), width: 1},
                         ticks: {stroke: color('--grid')}});
    const value = v => v == null ? '' : v.toFixed(data.digits);
    const upright = rows ? {
      ...axis(), size: 78, splits: () => rows.map((name, i) => rows.length - i - 0.5),
      values: () => rows, grid: {show: false}, ticks: {show: false},
    } : {...axis(), label: data.unit, labelSize: 18, labelFont: '12px system-ui', size: 60};
    if (data.overview) Object.assign(upright, {label: null, values: () => [], grid: {show: false}});
    const plot = new uPlot({
      tzDate: t => uPlot.tzDate(new Date(t * 1e3), 'UTC'),
      title: data.title, width: host.clientWidth,
      height: innerWidth < 600 && !data.overview && !rows ? 230 : data.height,
      scales: {x: {time: !!data.dates},
               y: {range: (u, low, high) => {
                 if (rows) return [0, rows.length];
                 if (low == null) return [0, 1];
                 if (data.band) high = Math.max(high, 1.1 * data.band);
                 // What is nothing must not fill the chart.
                 const middle = (low + high) / 2, half = Math.max((high - low) / 2, data.least / 2);
                 return [data.band ? 0 : middle - 1.06 * half, middle + 1.06 * half];
               }}},
      cursor: {sync: {key: data.group, setSeries: false}, points: {show: !data.overview && !rows},
               drag: {x: true, y: false, setScale: !data.overview}},
      legend: {show: !rows && !data.overview, live: true},
      series: [data.dates ? {label: 'UTC', value: '{YYYY}-{MM}-{DD} {HH}:{mm}'}
                          : {label: overTime ? 'time' : '%',
                             value: (u, v) => v == null ? '' : overTime ? `${v.toFixed(3)} s` : v.toFixed(0)},
               ...data.series.map(s => ({
                 label: s.name, stroke: hue(s.hue), width: s.hue < 0 || s.dash ? 1.2 : 1.6,
                 dash: s.dash ? [6, 4] : undefined,
                 points: data.dates ? {show: true, size: 6} : {show: false},
                 paths: data.dates ? () => null : undefined, spanGaps: false, show: !hidden.has(s.key),
                 value: (u, v) => value(v)})),
               ...(rows ? [{paths: () => null, points: {show: false}}] : [])],
      axes: [{...axis(), label: data.overview ? null : data.dates ? 'day, UTC' : data.along, labelSize: 18,
              labelFont: '12px system-ui'}, upright],
      hooks: {
        ready: [u => u.over.addEventListener('click', () => {
          if (overTime && u.cursor.left >= 0 && !(u.select.width > 2 && !data.overview))
            choose(u.posToVal(u.cursor.left, 'x'));
        }), u => u.over.addEventListener('dblclick', () => {
          if (data.overview) follow(data.group, ...ends(u));
        })],
        // Values, and the row of the time, are there only while there is something to read.
        setCursor: [u => u.root.classList.toggle('reading', u.cursor.idx != null)],
        drawClear: [u => { if (data.band) drawBand(u, data); }],
        draw: [u => { if (rows) drawBars(u, data); }],
        setSelect: [u => {
          if (data.overview && u.select.width > 2)
            follow(data.group, u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
        }],
        setScale: [(u, key) => {
          if (key === 'x' && !data.overview && !following && ready)
            follow(data.group, u.scales.x.min, u.scales.x.max);
        }],
        setSeries: [(u, index, options) => {
          if (index == null || options.show == null) return;
          const key = data.series[index - 1].key;
          if (options.show === !hidden.has(key)) return;
          if (options.show) hidden.delete(key); else hidden.add(key);
          for (const other of charts)
            other.data.series.forEach((s, i) => {
              if (s.key === key && other.plot !== u) other.plot.setSeries(i + 1, {show: options.show});
            });
        }],
      },
    }, [times, ...data.series.map(s => numbers(s.values, Float32Array)),
        ...(rows ? [times.map(() => null)] : [])], host);
    return {host, data, plot};
  };
  const draw = () => {
    for (const chart of charts) chart.plot.destroy();
    charts = [];
    ready = false;
    const made = [];
    for (const host of document.querySelectorAll('.chart'))
      made.push(build(host, JSON.parse(host.previousElementSibling.textContent)));
    charts = made;
    for (const {data} of made)
      if (data.window && !shown[data.group]) shown[data.group] = data.window;
    // After uPlot has drawn for the first time, which it does in a microtask.
    setTimeout(() => {
      ready = true;
      for (const group in shown) follow(group, ...shown[group]);
    });
  };
  draw();
  for (const line of document.querySelectorAll('.viewer'))
    line.querySelector('button').addEventListener('click', () =>
      navigator.clipboard && navigator.clipboard.writeText(line.querySelector('code').textContent));
  isDark.addEventListener('change', draw);
  onPaper.addEventListener('change', draw);
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const chart of charts)
      chart.plot.setSize({width: chart.host.clientWidth, height: chart.plot.height});
    for (const group in shown) follow(group, ...shown[group]);
  });
})();
