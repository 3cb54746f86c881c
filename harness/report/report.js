"use strict";

const PRINTED_WIDTH = { beside: 312, alone: 655 };

const config = (plot) => ({
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
  modeBarButtons: [["toImage", "resetViews"]],
  toImageButtonOptions: { format: "svg", filename: plot.dataset.file },
});

const plots = [...document.querySelectorAll(".plot")];

for (const plot of plots) {
  const { data, layout } = JSON.parse(plot.nextElementSibling.textContent);
  Plotly.newPlot(plot, data, layout, config(plot));
  plot.closest("figure").querySelector("button").addEventListener("click", () =>
    Plotly.downloadImage(plot, {
      format: "svg",
      filename: plot.dataset.file,
      width: plot.clientWidth,
      height: plot.clientHeight,
    }),
  );
}

let folded = [];

addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
  for (const plot of plots) {
    const width = plot.closest(".pair") ? PRINTED_WIDTH.beside : PRINTED_WIDTH.alone;
    Plotly.relayout(plot, { width });
  }
});

addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
  for (const plot of plots) Plotly.relayout(plot, { width: null, autosize: true });
});
